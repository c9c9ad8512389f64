package enum EventPhase: UInt8, Sendable {
  /// Arrivals come before everything that they cause in their band.
  case arrival
  case completion
  case control
  /// Deliveries, joins, unblocks and tombstones; refers to the receiving node.
  case delivery
  case dispatch
}

/// The total order of events: `(time, band, microstep, phase, node, track, sequence, item,
/// ordinal)`, packed into four words that compare from left to right.
package struct EventKey: Hashable, Sendable {
  /// Times are at most about 73 years from zero, so that no sum of them overflows 64 bits.
  package static let nanosecondsMax: Int64 = 1 << 61

  /// Nanoseconds of virtual time.
  package var time: Int64
  /// band 3 bits, microstep 37, phase 4, node 20.
  private var place: UInt64
  /// track 20 bits, sequence + 1 in 44: events without a frame come before events with one.
  private var frame: UInt64
  /// item + 1 in 32 bits, ordinal 32.
  private var tail: UInt64

  package init(
    time: Int64, band: EventBand, microstep: Int = 0, phase: EventPhase, node: Int, track: Int = 0,
    sequence: Int = -1, item: Int = -1, ordinal: Int = 0
  ) {
    self.time = time
    place =
      UInt64(band.rawValue) << 61 | UInt64(microstep) << 24 | UInt64(phase.rawValue) << 20
      | UInt64(node)
    frame = UInt64(track) << 44 | UInt64(sequence + 1)
    tail = UInt64(item + 1) << 32 | UInt64(ordinal)
  }

  package var band: EventBand { EventBand(rawValue: UInt8(place >> 61)) ?? .observation }
  package var microstep: Int { Int(place >> 24 & 0x1f_ffff_ffff) }
  package var phase: EventPhase { EventPhase(rawValue: UInt8(place >> 20 & 15)) ?? .dispatch }
  package var node: Int { Int(place & 0xf_ffff) }
  package var ordinal: Int { Int(tail & 0xffff_ffff) }

  /// The key of an event for the same instant, created while `current` is handled. Band and
  /// microstep stay if the new key is larger; otherwise the microstep is increased.
  package static func following(
    _ current: EventKey, phase: EventPhase, node: Int, track: Int = 0, sequence: Int = -1,
    item: Int = -1, ordinal: Int = 0
  ) -> EventKey {
    var key = EventKey(
      time: current.time, band: current.band, microstep: current.microstep, phase: phase,
      node: node, track: track, sequence: sequence, item: item, ordinal: ordinal)
    // order-same-instant: one more microstep makes the key larger, whatever its phase and node are.
    if key <= current { key.place += 1 << 24 }
    return key
  }
}

extension EventKey: Comparable {
  @inlinable
  package static func < (left: EventKey, right: EventKey) -> Bool {
    if left.time != right.time { return left.time < right.time }
    return left.isEarlierInInstant(than: right)
  }

  @usableFromInline
  func isEarlierInInstant(than other: EventKey) -> Bool {
    if place != other.place { return place < other.place }
    if frame != other.frame { return frame < other.frame }
    return tail < other.tail
  }
}

/// A binary heap of events, smallest key first.
package struct EventQueue: Sendable {
  private var heap: [Event] = []

  package init() {}

  package var isEmpty: Bool { heap.isEmpty }
  package var count: Int { heap.count }
  package var first: Event? { heap.first }

  package mutating func push(_ event: Event) {
    heap.append(event)
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard event.key < heap[parent].key else { break }
      heap[child] = heap[parent]
      child = parent
    }
    heap[child] = event
  }

  package mutating func pop() -> Event? {
    // A heap is not stable. That has no effect, because no two events have the same key.
    guard let first = heap.first, let last = heap.popLast() else { return nil }
    if !heap.isEmpty { sink(last) }
    return first
  }

  /// Replaces the root with `event` and lets it sink.
  private mutating func sink(_ event: Event) {
    var parent = 0
    while true {
      var child = 2 * parent + 1
      guard child < heap.count else { break }
      if child + 1 < heap.count, heap[child + 1].key < heap[child].key { child += 1 }
      guard heap[child].key < event.key else { break }
      heap[parent] = heap[child]
      parent = child
    }
    heap[parent] = event
  }
}
