/// The input side of a forEach: hands out the items of one frame, one at a time.
package struct ForkStateMachine: Hashable, Sendable {
  private var slot: Int32?
  private var next: Int32 = 0
  private var count: Int32 = 0

  package init() {}

  package var isBusy: Bool { slot != nil }

  package mutating func begin(slot: Int32, items: Int) {
    precondition(!isBusy, "a forEach hands out one frame at a time")
    self.slot = slot
    next = 0
    count = Int32(items)
  }

  /// The next item to offer; `nil` after the last one was handed out.
  package mutating func nextItem() -> Work? {
    // fork-item: in the order of their indexes.
    guard let slot, next < count else { return nil }
    defer { next += 1 }
    return Work(slot: Int(slot), item: Int(next))
  }

  /// All items were accepted.
  ///
  /// - Returns: The frame that they belong to.
  package mutating func end() -> Int? {
    defer { slot = nil }
    return slot.map(Int.init)
  }
}

/// The output side of a forEach: gathers the items of each frame. Frames leave in the order of
/// their sequence.
package struct GatherStateMachine: Sendable {
  private struct Frame: Hashable, Sendable {
    var slot: Int
    var sequence: Int
    var items: Int
    var missing: Int
    var failed = 0
    var isWhole = false
  }

  /// In rising order of sequence.
  private var frames: [Frame] = []

  package init() {}

  /// A frame enters the body as the given number of items.
  package mutating func open(slot: Int, sequence: Int, items: Int) {
    let place = frames.firstIndex { $0.sequence > sequence } ?? frames.endIndex
    frames.insert(
      Frame(slot: slot, sequence: sequence, items: items, missing: items), at: place)
  }

  /// One item has arrived, or has failed.
  ///
  /// - Returns: The numbers of items and of failed items, if it was the frame's last item.
  package mutating func add(slot: Int, isFailed: Bool) -> (items: Int, failed: Int)? {
    guard let index = frames.firstIndex(where: { $0.slot == slot }) else { return nil }
    precondition(frames[index].missing > 0, "a frame has as many items as it was opened with")
    frames[index].missing -= 1
    if isFailed { frames[index].failed += 1 }
    return closed(index)
  }

  /// Closes a frame without items.
  package mutating func close(slot: Int) -> (items: Int, failed: Int)? {
    frames.firstIndex { $0.slot == slot }.flatMap { closed($0) }
  }

  private mutating func closed(_ index: Int) -> (items: Int, failed: Int)? {
    // gather-close: failed items count as well, because they keep their places in the list.
    guard frames[index].missing == 0 else { return nil }
    frames[index].isWhole = true
    return (frames[index].items, frames[index].failed)
  }

  /// The complete frame that leaves next: no frame with a lower sequence is open.
  package mutating func nextToLeave() -> Int? {
    // gather-leave: only the first frame may leave, so a complete frame waits for open frames of
    // lower sequence.
    guard let first = frames.first, first.isWhole else { return nil }
    frames.removeFirst()
    return first.slot
  }
}
