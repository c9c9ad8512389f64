import RetakeCore
import RetakeGraph

/// A captured frame until everything about it is known and told to the observer.
final class PendingFrame {
  enum SinkState {
    case open
    /// The facts that a results sink writes, still being computed; and the value itself.
    case delivered(facts: ValueFuture, value: ValueFuture)
    case ended(FrameFate, node: Int)
  }

  let entry: FrameEntry
  let arrival: Int64
  /// By position in `GraphPlan.sinks`.
  var sinks: [SinkState]
  /// By node: what virtual time saw begin. Values computed ahead for nothing are not here.
  var started: [ValueFuture?]
  var isSettled = false

  init(entry: FrameEntry, arrival: Int64, nodes: Int, sinks: Int) {
    self.entry = entry
    self.arrival = arrival
    self.sinks = Array(repeating: .open, count: sinks)
    started = Array(repeating: nil, count: nodes)
  }
}

/// What a results sink writes of a value, computed beside the other stages.
struct FactsValue: PipelineValue {
  static var valueKind: ValueKind { .user(name: "retake-facts", version: 1) }

  var facts: [ResultFact]

  func digest(into hasher: inout DigestHasher) {}
}
