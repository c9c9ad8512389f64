/// Pending wakes and arrivals as a heap, ordered by instant; at one instant wakes precede arrivals,
/// and earlier insertions precede later insertions.
struct DueQueue {
  /// At one instant, work ends before frames arrive, as in Retake's engine: a stage that becomes
  /// idle receives the frame that waits in its queue before a newer frame can replace it.
  enum Phase: Int {
    case wake, arrival
  }

  struct Entry: Comparable {
    var instant: VirtualClock.Instant
    var phase: Phase
    var order: Int

    static func < (left: Entry, right: Entry) -> Bool {
      (left.instant, left.phase.rawValue, left.order)
        < (right.instant, right.phase.rawValue, right.order)
    }
  }

  private var heap: [Entry] = []

  var first: Entry? { heap.first }

  mutating func insert(_ phase: Phase, at instant: VirtualClock.Instant, order: Int) {
    heap.append(Entry(instant: instant, phase: phase, order: order))
    var index = heap.count - 1
    // Ends: the index halves.
    while index > 0, heap[index] < heap[(index - 1) / 2] {
      heap.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  mutating func removeFirst() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var index = 0
    // Ends: the index doubles.
    while true {
      let children = (2 * index + 1..<2 * index + 3).clamped(to: 0..<heap.count)
      guard let least = children.min(by: { heap[$0] < heap[$1] }), heap[least] < heap[index] else {
        return
      }
      heap.swapAt(index, least)
      index = least
    }
  }
}
