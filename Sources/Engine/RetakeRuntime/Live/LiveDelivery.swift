import RetakeCore
import RetakeGraph

/// The outcome of a captured frame at one sink.
struct LiveDelivery: Sendable {
  enum Content: Sendable {
    /// `nil` if it could not be computed again.
    case value((any PipelineValue)?)
    case ended(FrameFate, node: String)
  }

  var frame: LiveFrame
  var sink: Int
  /// In `GraphPlan.sinks`.
  var position: Int
  var nanoseconds: Int64
  var content: Content
  /// Why the frame ended, if a stage failed.
  var failure: StageFailure?
}
