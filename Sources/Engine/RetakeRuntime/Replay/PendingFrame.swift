import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTimePlane

/// A captured frame, until everything about it is known and reported to the observer.
final class PendingFrame {
  enum SinkState {
    /// The sink's ledger does not count the frames of this source.
    case elsewhere
    case open
    /// The facts that a results sink writes, which may still be computing, and the value itself.
    case delivered(facts: ValueFuture, value: ValueFuture)
    case ended(FrameFate, node: Int)
  }

  let entry: FrameEntry
  let arrival: Int64
  /// The number of swaps that were in force when the frame arrived.
  let epoch: Int
  /// By position in `GraphPlan.sinks`.
  var sinks: [SinkState]
  /// The work that began in virtual time. Values that were computed ahead but not used are not
  /// here.
  var started: FrameValues<ValueFuture>
  var failures = FrameFailures()
  var isSettled = false
  /// Values of programs that are not complete, because a timer may still add to them.
  var openPrograms = 0

  init(entry: FrameEntry, arrival: Int64, epoch: Int, nodes: Int, sinks: Int) {
    self.entry = entry
    self.arrival = arrival
    self.epoch = epoch
    self.sinks = Array(repeating: .elsewhere, count: sinks)
    started = FrameValues(nodes: nodes)
  }

  /// Visits all work that began in virtual time, by node.
  func forEachStarted(_ body: (ValueFuture) throws -> Void) rethrows {
    for node in started.outputs.indices {
      if let future = started.outputs[node] { try body(future) }
      guard !started.items.isEmpty else { continue }
      for future in started.items[node] ?? [] { if let future { try body(future) } }
    }
  }
}

extension PendingFrame {
  /// Whether a condition holds for all work that began in virtual time.
  func allStarted(_ isSatisfied: (ValueFuture) -> Bool) -> Bool {
    for case let future? in started.outputs where !isSatisfied(future) { return false }
    for items in started.items.values {
      for case let future? in items where !isSatisfied(future) { return false }
    }
    return true
  }
}

/// The facts that a results sink writes for a value. It is computed in parallel with the other
/// stages.
struct FactsValue: PipelineValue {
  static var valueKind: ValueKind { .user(name: "retake-facts", version: 1) }

  var facts: [ResultFact]

  func digest(into hasher: inout DigestHasher) {}
}
