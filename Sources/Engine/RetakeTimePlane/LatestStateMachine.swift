import DequeModule
package import RetakeCore

/// One port of a latest join. It decides which value a frame reads at the port.
///
/// If the value is of the frame's own track, the frame reads the value with the highest sequence
/// that is not above its own. If it is of another track, the frame reads the value that arrived
/// last and not after the frame.
package struct LatestStateMachine: Sendable {
  package struct Value: Hashable, Sendable {
    package var slot: Int
    package var id: FrameID
    /// Nanoseconds.
    package var arrival: Int64

    package init(slot: Int, id: FrameID, arrival: Int64) {
      self.slot = slot
      self.id = id
      self.arrival = arrival
    }
  }

  private let isSameTrack: Bool
  /// In rising order. After a read, the first value is the value that was read last.
  private var values: Deque<Value> = []
  private var lastRead: Value?

  package init(isSameTrack: Bool) {
    self.isSameTrack = isSameTrack
  }

  package var count: Int { values.count }

  /// - Returns: `false` for a value that is not kept: a newer value was read, so no frame will read
  ///   this one.
  package mutating func add(_ value: Value) -> Bool {
    // latest-forward: it came too late to be read.
    if let lastRead, isRising(value, lastRead) { return false }
    var place = values.endIndex
    // Bounded: values arrive in rising order, except values of frames that arrived out of order.
    while place > values.startIndex, isRising(value, values[place - 1]) { place -= 1 }
    values.insert(value, at: place)
    return true
  }

  /// The value that a frame reads. It is never older than a value that was read before. Older
  /// values are no longer needed and are returned.
  package mutating func read(by frame: Value) -> (value: Value?, released: [Value]) {
    let kept = lastRead.flatMap { last in values.firstIndex(of: last) } ?? 0
    // latest-read: the last value that is not above the frame. latest-forward: no value from before
    // `kept`.
    guard let chosen = values.lastIndex(where: { !isAbove($0, frame) }), chosen >= kept else {
      return (nil, [])
    }
    let released = Array(values[..<chosen])
    values.removeFirst(chosen)
    lastRead = values.first
    return (values.first, released)
  }

  /// Returns the values that no frame from `oldest` on can read, because a newer value is not above
  /// `oldest`.
  package mutating func prune(before oldest: Value) -> [Value] {
    guard let newest = values.lastIndex(where: { !isAbove($0, oldest) }), newest > 0 else {
      return []
    }
    let released = Array(values[..<newest])
    values.removeFirst(newest)
    return released
  }

  private func isAbove(_ value: Value, _ frame: Value) -> Bool {
    // latest-read: tracks have sequences of their own, so
    // values of another track are compared by arrival.
    isSameTrack ? value.id.sequence > frame.id.sequence : value.arrival > frame.arrival
  }

  private func isRising(_ left: Value, _ right: Value) -> Bool {
    isSameTrack
      ? left.id.sequence < right.id.sequence
      : (left.arrival, left.id.sequence) < (right.arrival, right.id.sequence)
  }
}
