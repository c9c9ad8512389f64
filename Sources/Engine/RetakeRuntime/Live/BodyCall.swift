import RetakeBuffers
import RetakeGraph
import RetakeTimePlane

/// One call of a stage's body, which any thread can make.
struct BodyCall: Sendable {
  var name: BodyName
  var nodeID: String
  var body: StageCall
  /// The called stage, and the calls that it remembers.
  var stage: MemoryGaps.Stage
  /// The thread of a pinned stage.
  var lane: Int?
  var context: StageContext
  /// `nil` if it could not be computed again.
  var input: (any PipelineValue)?
  /// When the input reached the stage's edge.
  var readyNanoseconds: Int64

  /// The same call, whose stage knows its run.
  func told(of run: StageRun) -> BodyCall {
    var call = self
    (call.context.run, call.context.node) = (run, nodeID)
    return call
  }

  /// Calls the body. The core starts a stateful stage's next call after this one has ended.
  ///
  /// If there is no memory for a frame, only that frame fails: there may be memory for the next
  /// one.
  func run(_ input: any PipelineValue) -> StageOutcome {
    switch FrameShortage.checked(in: context.supply, { body(input, context) }) {
    case .success(let outcome): outcome
    case .failure(let error):
      .failure(StageError(code: FailureCode.allocationFailed, message: error.message))
    }
  }
}
