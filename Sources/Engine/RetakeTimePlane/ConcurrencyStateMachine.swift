package import RetakeCore

/// The slots of one stage: the work in progress, the output that may leave next, and the value that
/// left last.
///
/// Outputs leave in the order of sequence and item. A slot is held until every edge has accepted
/// its output and its body has ended. The frames of a batch share a slot.
package struct ConcurrencyStateMachine: Sendable {
  /// The order in which outputs leave.
  package struct Order: Hashable, Comparable, Sendable {
    package var sequence: Int
    package var item: Int32

    package init(sequence: Int, item: Int32 = -1) {
      self.sequence = sequence
      self.item = item
    }

    package static func < (left: Order, right: Order) -> Bool {
      (left.sequence, left.item) < (right.sequence, right.item)
    }
  }

  package enum Output: Sendable {
    case value
    /// The body failed with this code. The value that left last replaces its output.
    case fallback(code: String)
  }

  /// The value that left last, which a fallback repeats.
  package struct LastValue: Sendable {
    package var slot: Int
    /// The frame that the value was computed for.
    package var origin: FrameID
  }

  private enum Phase: Sendable {
    case working
    case ready(Output)
    case leaving
    /// There is no output to offer, but the body may still run.
    case over
  }

  private struct Slot: Sendable {
    var work: Work
    var order: Order
    /// The number of the batch; a frame that is served alone has a batch for itself.
    var batch: Int
    var phase = Phase.working
    var isBodyRunning = true

    var isOpen: Bool { if case .working = phase { true } else { false } }
    var isLeaving: Bool { if case .leaving = phase { true } else { false } }
    var isOver: Bool { if case .over = phase { true } else { false } }
  }

  private let count: Int
  private var batchesStarted = 0
  private var batchesOpen = 0
  private var slots: [Slot] = []
  package private(set) var lastValue: LastValue?

  package init(count: Int = 1) {
    precondition(count > 0, "a stage has a slot")
    self.count = count
  }

  package var isFull: Bool { batchesOpen >= count }
  package var works: [Work] { slots.map(\.work) }

  /// - Parameter joins: Whether the frame belongs to the batch that was started last.
  package mutating func start(_ work: Work, order: Order, joins: Bool = false) {
    if !joins {
      precondition(!isFull, "a stage takes no more frames than it has slots")
      batchesStarted += 1
      batchesOpen += 1
    }
    slots.append(Slot(work: work, order: order, batch: batchesStarted))
  }

  /// Whether the frame's outcome is still open. It is not open after its timeout.
  package func isOpen(_ work: Work) -> Bool {
    slots.contains { $0.work == work && $0.isOpen }
  }

  /// Whether the frame's body has not returned yet.
  package func isRunning(_ work: Work) -> Bool {
    slots.contains { $0.work == work && $0.isBodyRunning }
  }

  /// The frame has an output, which leaves at its turn.
  package mutating func finish(_ work: Work, with output: Output) {
    guard let slot = index(of: work) else { return }
    slots[slot].phase = .ready(output)
  }

  /// The frame has no output.
  package mutating func abandon(_ work: Work) {
    guard let slot = index(of: work) else { return }
    // stage-fail: the slot is free at once; after
    // stage-timeout only when the body has ended as well.
    slots[slot].phase = .over
    removeIfDone(slot)
  }

  /// The body has returned.
  ///
  /// - Returns: Whether no other body of its batch is running, so that the server is free.
  package mutating func bodyEnded(_ work: Work) -> Bool {
    guard let slot = index(of: work) else { return true }
    slots[slot].isBodyRunning = false
    let batch = slots[slot].batch
    removeIfDone(slot)
    return !slots.contains { $0.batch == batch && $0.isBodyRunning }
  }

  /// The next output that may leave, if there is one. It begins to leave.
  package mutating func nextToLeave() -> (work: Work, output: Output)? {
    var lowest: Int?
    for index in slots.indices where !slots[index].isOver {
      // output-hold: one output leaves at a time.
      if slots[index].isLeaving { return nil }
      // output-order: slots that still work count too, because their outputs have to leave first.
      if lowest.map({ slots[index].order < slots[$0].order }) ?? true { lowest = index }
    }
    guard let lowest, case .ready(let output) = slots[lowest].phase else { return nil }
    slots[lowest].phase = .leaving
    return (slots[lowest].work, output)
  }

  /// - Returns: The value that left before this one.
  package mutating func remember(_ value: LastValue) -> LastValue? {
    defer { lastValue = value }
    return lastValue
  }

  /// Every edge has accepted the output that was leaving.
  package mutating func left() {
    guard let slot = slots.firstIndex(where: \.isLeaving) else { return }
    // output-hold: a fallback can leave before the body that
    // timed out has ended; then the slot stays taken.
    slots[slot].phase = .over
    removeIfDone(slot)
  }

  private func index(of work: Work) -> Int? { slots.firstIndex { $0.work == work } }

  private mutating func removeIfDone(_ slot: Int) {
    guard slots[slot].isOver, !slots[slot].isBodyRunning else { return }
    let batch = slots.remove(at: slot).batch
    if !slots.contains(where: { $0.batch == batch }) { batchesOpen -= 1 }
  }
}
