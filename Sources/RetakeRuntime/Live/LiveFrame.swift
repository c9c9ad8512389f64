import RetakeBuffers
import RetakeCore
import RetakeGraph

/// One call of a stage's body, ready to be made on any thread.
struct BodyCall: Sendable {
  var name: BodyName
  var nodeID: String
  var body: StageCall
  /// The thread of a pinned stage.
  var lane: Int?
  var context: StageContext
  /// `nil` where it could not be computed again.
  var input: (any PipelineValue)?
  /// When the input came to the stage's edge.
  var readyNanoseconds: Int64

  /// Calls the body; the core begins a stateful stage's next call when this one has ended.
  ///
  /// A frame that found no memory fails alone: there may be memory for the next one.
  func run(_ input: any PipelineValue) -> StageOutcome {
    switch FrameShortage.checked({ body(input, context) }) {
    case .success(let outcome): outcome
    case .failure(let error):
      .failure(StageError(code: LiveCode.allocationFailed, message: error.message))
    }
  }
}

/// What the core wants to know of a value.
struct GateQuestion {
  enum Kind {
    case items
    case port
  }

  var kind: Kind
  var node: Int
  var frame: FrameID
  var input: (any PipelineValue)?

  /// The answer, from the value itself.
  func answer(plan: GraphPlan) -> Int? {
    guard let input else { return nil }
    switch kind {
    case .items: return ForEachItems.input(input)?.1.items.count ?? 0
    case .port:
      guard case .route(let choose) = plan.nodes[node].stage.body else { return nil }
      return choose(input)
    }
  }
}

/// A stage that takes, or took, a node's place.
struct LiveSwap: Sendable {
  var swap: StageSwap
  var node: Int
  var refusal: String?
  var isDecided = false
}

/// Codes of failures that the driver itself reports.
enum LiveCode {
  static let allocationFailed = "allocation.failed"
  /// A swap of a run that is over.
  static let ended = "swap.ended"
}

/// The values of one frame that is on its way.
struct LiveValues {
  var entry: FrameEntry?
  var arrival: Int64 = 0
  /// The code with which the frame fails at its source.
  var damage: String?
  /// How many swaps were in force when it arrived.
  var epoch = 0
  /// By node.
  var outputs: [(any PipelineValue)?] = []
  /// By node of a forEach, its body included, then item.
  var items: [Int: [(any PipelineValue)?]] = [:]
  /// The codes of failed items, by forEach and item.
  var failedItems: [Int: [Int: String]] = [:]
  var failures = FrameFailures()
  /// From capture until everything is decided.
  var frame: LiveFrame?

  init() {}

  init(entry: FrameEntry, arrival: Int64, damage: String?, nodes: Int) {
    self.entry = entry
    self.arrival = arrival
    self.damage = damage
    outputs = Array(repeating: nil, count: nodes)
  }

  subscript(node: Int, work: Work) -> (any PipelineValue)? {
    get {
      guard work.isItem else { return outputs[node] }
      let items = items[node] ?? []
      return items.indices.contains(Int(work.item)) ? items[Int(work.item)] : nil
    }
    set {
      guard work.isItem else {
        outputs[node] = newValue
        return
      }
      var all = items[node] ?? []
      while all.count <= Int(work.item) { all.append(nil) }
      all[Int(work.item)] = newValue
      items[node] = all
    }
  }
}

/// What becomes of a captured frame at one sink.
struct LiveDelivery: Sendable {
  enum Content: Sendable {
    /// `nil` where it could not be computed again.
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

/// A captured frame until everybody is told what became of it.
final class LiveFrame: @unchecked Sendable {
  // @unchecked: `isOpen` belongs to the thread that decides, `outcomes` to the one that tells, and
  // `failures` to the first until the frame is settled. What the first hands to the second goes
  // through a queue.
  struct Told: Sendable {
    var content: SinkOutcome.Content
    var classNames: [String] = []
    /// `nil` where it ended.
    var deliveredNanoseconds: Int64?
    var isComputed = true
  }

  let entry: FrameEntry
  /// As stages and sinks are told it: from the run's origin.
  let timestamp: Timestamp
  let arrival: Int64
  /// Sinks that have no outcome yet, by position.
  var isOpen: [Bool]
  /// By position; `nil` for sinks whose ledger does not count the frame.
  var outcomes: [Told?]
  /// Of its stages, in the order in which they happened.
  var failures: [StageFailure] = []

  init(entry: FrameEntry, timestamp: Timestamp, arrival: Int64, sinks: Int) {
    self.entry = entry
    self.timestamp = timestamp
    self.arrival = arrival
    isOpen = Array(repeating: false, count: sinks)
    outcomes = Array(repeating: nil, count: sinks)
  }

  /// Notes a delivery, with what a results sink writes of its value.
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

  /// All that is to be told, sinks in rising order of their path.
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

/// What became of one captured frame of a live run, at all sinks.
public struct LiveResult: Sendable {
  public var frame: FinishedFrame
  /// When each of the frame's outcomes was delivered, on the session's time line; `nil` where it
  /// ended.
  public var deliveredNanoseconds: [Int64?]
  /// Whether each outcome is known: not so where a reenacted run could not compute a value.
  package var isComputed: [Bool] = []
}
