package import RetakeCore

/// A frame in flight, as the core sees it.
package struct FrameSlot: Sendable {
  package let id: FrameID
  /// Virtual time of its arrival at the source, in nanoseconds.
  package let arrival: Int64
  package let source: Int
  /// The number of swaps that were in force when the frame arrived.
  package fileprivate(set) var epoch = 0
  /// Counts the frames that used this slot.
  let generation: Int32
  fileprivate var unsettledSinks: Int
  /// Parts and items of the frame that can still advance.
  fileprivate var tokens = 1
  /// Holders of its values that do not advance: latest joins, fallbacks, sinks.
  fileprivate var retained = 0
  fileprivate var isTold = false
}

/// The frames in flight, by slot, and the tokens and holds that still occupy each slot.
package struct SlotTable: Sendable {
  /// The effect of the end of a token, or of the frame's end at a sink.
  enum Change {
    case none
    /// Everything about the frame is decided, but values of it are still held.
    case settled
    case settledAndFree
  }

  private var slots: [FrameSlot] = []
  private var free: [Int] = []
  /// By source: the lowest sequence that may still arrive after the announced frames.
  private var lowestToCome: [Int]
  /// Frames and items in flight.
  private(set) var tokens = 0

  init(nodes: Int) { lowestToCome = [Int](repeating: 0, count: nodes) }

  package subscript(slot: Int) -> FrameSlot { slots[slot] }

  /// The lowest sequence and the earliest arrival of the source's frames, of frames in flight and
  /// of frames that arrive later.
  func oldest(ofSource source: Int) -> (sequence: Int, arrival: Int64) {
    // Frames arrive in the order of time, but not always in the order of their sequence.
    var oldest = (sequence: lowestToCome[source], arrival: Int64.max)
    for slot in slots where slot.tokens > 0 && slot.source == source {
      oldest.sequence = min(oldest.sequence, slot.id.sequence)
      oldest.arrival = min(oldest.arrival, slot.arrival)
    }
    return oldest
  }

  // MARK: Arrivals

  /// A frame is announced, and has a token.
  mutating func add(
    _ id: FrameID, arrival: Int64, source: Int, sinks: Int, lowestToCome: Int
  ) -> Int {
    self.lowestToCome[source] = lowestToCome
    tokens += 1
    let slot = free.popLast()
    // A timer of the frame that used this slot before must not end the new frame.
    let generation = slot.map { slots[$0].generation &+ 1 } ?? 0
    let frame = FrameSlot(
      id: id, arrival: arrival, source: source, generation: generation, unsettledSinks: sinks)
    if let slot {
      slots[slot] = frame
      return slot
    }
    slots.append(frame)
    return slots.count - 1
  }

  mutating func setEpoch(_ epoch: Int, of slot: Int) { slots[slot].epoch = epoch }

  /// A frame that was lost before capture: no node or sink can still hold it.
  mutating func forgetLost(_ slot: Int) {
    precondition(slots[slot].tokens == 1, "a lost frame was not passed on")
    slots[slot].tokens = 0
    tokens -= 1
    free.append(slot)
  }

  // MARK: Frames in flight

  /// One more part or item of a frame is in flight.
  mutating func addToken(_ slot: Int) {
    slots[slot].tokens += 1
    tokens += 1
  }

  /// One part or item fewer is in flight. The last one settles the frame.
  mutating func endToken(_ slot: Int) -> Change {
    precondition(slots[slot].tokens > 0, "what is on its way ends once")
    slots[slot].tokens -= 1
    tokens -= 1
    return settleIfDone(slot)
  }

  mutating func settleSink(_ slot: Int) -> Change {
    precondition(slots[slot].unsettledSinks > 0, "a sink settles a frame once")
    slots[slot].unsettledSinks -= 1
    return settleIfDone(slot)
  }

  private mutating func settleIfDone(_ slot: Int) -> Change {
    guard slots[slot].tokens == 0, slots[slot].unsettledSinks == 0, !slots[slot].isTold else {
      return .none
    }
    slots[slot].isTold = true
    // A latest join, a fallback or a sink may still need its values; then its slot is not free yet.
    guard slots[slot].retained == 0 else { return .settled }
    free.append(slot)
    return .settledAndFree
  }

  /// Keeps a value of the frame without moving on with the frame.
  mutating func retain(_ slot: Int) { slots[slot].retained += 1 }

  /// - Returns: Whether the slot is free now.
  mutating func release(_ slot: Int) -> Bool {
    precondition(slots[slot].retained > 0, "what holds a value releases it once")
    slots[slot].retained -= 1
    guard slots[slot].isTold, slots[slot].retained == 0 else { return false }
    free.append(slot)
    return true
  }
}
