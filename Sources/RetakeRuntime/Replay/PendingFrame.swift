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
  /// By node: the work that began in virtual time. Values that were computed ahead but not used are
  /// not here.
  var started: [ValueFuture?]
  /// By node of a forEach's body, then by item.
  var startedItems: [Int: [ValueFuture?]] = [:]
  /// The codes of failed items, by forEach, then by item.
  var failedItems: [Int: [Int: String]] = [:]
  var failures = FrameFailures()
  var isSettled = false

  init(entry: FrameEntry, arrival: Int64, epoch: Int, nodes: Int, sinks: Int) {
    self.entry = entry
    self.arrival = arrival
    self.epoch = epoch
    self.sinks = Array(repeating: .elsewhere, count: sinks)
    started = Array(repeating: nil, count: nodes)
  }

  func start(_ future: ValueFuture, node: Int, work: Work) {
    guard work.isItem else {
      started[node] = future
      return
    }
    var items = startedItems[node] ?? []
    while items.count <= Int(work.item) { items.append(nil) }
    items[Int(work.item)] = future
    startedItems[node] = items
  }

  /// Visits all work that began in virtual time, by node.
  func forEachStarted(_ body: (ValueFuture) throws -> Void) rethrows {
    for node in started.indices {
      if let future = started[node] { try body(future) }
      guard !startedItems.isEmpty else { continue }
      for future in startedItems[node] ?? [] { if let future { try body(future) } }
    }
  }
}

extension PendingFrame {
  /// Whether a condition holds for all work that began in virtual time.
  func allStarted(_ isSatisfied: (ValueFuture) -> Bool) -> Bool {
    for case let future? in started where !isSatisfied(future) { return false }
    for items in startedItems.values {
      for case let future? in items where !isSatisfied(future) { return false }
    }
    return true
  }
}

/// The values of one frame in flight.
struct SlotValues {
  /// By node.
  var futures: [ValueFuture?] = []
  /// By node of a forEach or of its body, then by item.
  var items: [Int: [ValueFuture?]] = [:]
  /// Values of this frame that other frames read through a latest join.
  var read: [ValueFuture] = []
  /// Set once everything is decided: values that were computed but not used, unless a reader is
  /// left.
  var leftovers: [ValueFuture] = []

  subscript(node: Int, work: Work) -> ValueFuture? {
    get {
      guard work.isItem else { return futures[node] }
      let items = items[node] ?? []
      return items.indices.contains(Int(work.item)) ? items[Int(work.item)] : nil
    }
    set {
      guard work.isItem else {
        futures[node] = newValue
        return
      }
      var all = items[node] ?? []
      while all.count <= Int(work.item) { all.append(nil) }
      all[Int(work.item)] = newValue
      items[node] = all
    }
  }
}

/// What a results sink writes for a value. It is computed in parallel with the other stages.
struct FactsValue: PipelineValue {
  static var valueKind: ValueKind { .user(name: "retake-facts", version: 1) }

  var facts: [ResultFact]

  func digest(into hasher: inout DigestHasher) {}
}
