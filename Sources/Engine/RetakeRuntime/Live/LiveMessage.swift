import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTimePlane
import Synchronization

/// A message to the decision loop.
enum LiveMessage: Sendable {
  case frame(FrameEntry, Frame?)
  case ended(BodyName, CompletionOutcome, (any PipelineValue)?, CostSpan?)
  case released(sink: Int, FrameID)
  case device(DeviceEvent)
  case swap(StageSwap, node: Int, SwapVerdict)
  case swapReady(index: Int, refusal: String?)
  case sourceLost(track: Int, code: String)
}
