import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTimePlane

/// One call of a stage's body, which any thread can make.
struct BodyCall: Sendable {
  var name: BodyName
  var nodeID: String
  var body: StageCall
  /// The stage that is called, and what it remembers.
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

/// A question of the core about a value.
struct GateQuestion {
  enum Kind {
    case items
    case port
  }

  var kind: Kind
  var node: Int
  var frame: FrameID
  var input: (any PipelineValue)?

  /// The answer, computed from the value.
  func answer(plan: GraphPlan) -> Int? {
    guard let input else { return nil }
    switch kind {
    case .items: return ForEachItems.count(in: input)
    case .port:
      guard case .route(let choose) = plan.nodes[node].stage.body else { return nil }
      return choose(input)
    }
  }
}

/// A stage that replaces, or replaced, a node's stage.
struct LiveSwap: Sendable {
  var swap: StageSwap
  var node: Int
  var refusal: String?
  var isDecided = false
}

/// Codes that the driver itself reports.
enum LiveCode {
  /// The run ended before the swap was decided.
  static let ended = "swap.ended"
}

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

/// A captured frame, until its outcomes have been reported.
final class LiveFrame: @unchecked Sendable {
  // @unchecked: `isOpen` belongs to the thread that decides, `outcomes` to the thread that reports,
  // and `failures` to the deciding thread until the frame is settled. A queue carries the frame
  // from the first thread to the second.
  struct Told: Sendable {
    var content: SinkOutcome.Content
    var classNames: [String] = []
    /// `nil` if the frame ended before the sink.
    var deliveredNanoseconds: Int64?
    var isComputed = true
  }

  let entry: FrameEntry
  /// The timestamp that stages and sinks see, relative to the run's origin.
  let timestamp: Timestamp
  let arrival: Int64
  /// Sinks that have no outcome yet, by position.
  var isOpen: [Bool]
  /// By position; `nil` for sinks whose ledger does not count the frame.
  var outcomes: [Told?]
  /// Failures of the frame's stages, in the order in which they happened.
  var failures: [StageFailure] = []

  init(entry: FrameEntry, timestamp: Timestamp, arrival: Int64, sinks: Int) {
    self.entry = entry
    self.timestamp = timestamp
    self.arrival = arrival
    isOpen = Array(repeating: false, count: sinks)
    outcomes = Array(repeating: nil, count: sinks)
  }

  /// Notes a delivery, with what a results sink writes for its value.
  func note(_ delivery: LiveDelivery, discards: Bool) {
    switch delivery.content {
    case .ended(let fate, let node):
      outcomes[delivery.position] = Told(content: .ended(fate, node: node))
    case .value(let value?):
      outcomes[delivery.position] = Told(
        content: .facts(discards ? [] : value.facts),
        classNames: (value as? Detections)?.classNames ?? [],
        deliveredNanoseconds: delivery.nanoseconds)
    case .value(nil):
      outcomes[delivery.position] = Told(
        content: .facts([]), deliveredNanoseconds: delivery.nanoseconds, isComputed: false)
    }
  }

  /// All outcomes to report, sinks in rising order of their path.
  func result(sinkIDs: [String]) -> LiveResult {
    var result = LiveResult(
      frame: FinishedFrame(
        entry: entry, arrivalNanoseconds: arrival,
        result: FrameResult(id: entry.id, pts: entry.pts, outcomes: []), classNames: [],
        failures: failures, digests: []), deliveredNanoseconds: [])
    for (sink, told) in zip(sinkIDs, outcomes) {
      guard let told else { continue }
      result.frame.result.outcomes.append(SinkOutcome(sink: sink, content: told.content))
      result.frame.classNames.append(told.classNames)
      result.deliveredNanoseconds.append(told.deliveredNanoseconds)
      result.isComputed.append(told.isComputed)
    }
    return result
  }
}

/// The outcomes of one captured frame of a live run, at all sinks.
public struct LiveResult: Sendable {
  /// The frame with its outcomes. `pictures` and `digests` are empty in a live run;
  /// `arrivalNanoseconds` is on the session's time line.
  public var frame: FinishedFrame
  /// When each of the frame's outcomes was delivered, on the session's time line; `nil` if the
  /// frame ended before the sink.
  public var deliveredNanoseconds: [Int64?]
  /// Whether each outcome is known. An outcome is unknown if a reproduced run could not compute it.
  package var isComputed: [Bool] = []
}
