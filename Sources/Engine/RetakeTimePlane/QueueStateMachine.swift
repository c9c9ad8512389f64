import DequeModule
package import RetakeGraph

/// The queue's decision about a frame that is offered to an edge.
package enum QueueVerdict: Hashable, Sendable {
  case accepted
  /// The offered frame is dropped.
  case droppedNewest
  /// This frame, which waited longest, is dropped. The offered frame is accepted.
  case droppedOldest(Work)
  /// This frame is replaced by the offered one.
  case replaced(Work)
  /// The sender keeps the offered frame until a place is free.
  case blocked
}

/// The bounded queue of one edge. It decides, and remembers which frames wait or are on their way.
///
/// The capacity counts the frames that wait here, not the frames in service. The queue decides
/// whether a place is free when a frame is offered.
package struct QueueStateMachine: Sendable {
  package struct Entry: Hashable, Sendable {
    package var work: Work
    /// When it was accepted, in nanoseconds.
    package var since: Int64
  }

  private let capacity: Int
  private let policy: EdgePolicy
  private var waiting: Deque<Entry> = []
  /// The frame that the sender holds because the queue is full.
  package private(set) var blocked: Work?
  private var isUnblockDue = false
  /// Frames that were sent along the edge and were not offered to the queue yet.
  private var onTheWay = 0
  /// Whether a waiting frame may be ordered before a frame that has waited longer.
  package private(set) var hasOvertaking = false

  package init(capacity: Int, policy: EdgePolicy) {
    precondition(capacity > 0, "a queue has room for one frame at least")
    self.capacity = capacity
    self.policy = policy
  }

  package var count: Int { waiting.count }
  private var isFull: Bool { waiting.count >= capacity }
  package var first: Entry? { waiting.first }
  package var entries: [Entry] { Array(waiting) }

  /// Whether a frame that arrives at the source of this edge finds the queue full.
  package var losesArrivals: Bool {
    // source-lost: frames of this instant that are on their
    // way into the queue will find their places first.
    policy == .block && waiting.count >= capacity - onTheWay
  }

  /// A frame is on its way, and is offered at the same instant.
  package mutating func send() { onTheWay += 1 }

  package mutating func offer(_ work: Work, at time: Int64) -> QueueVerdict {
    precondition(onTheWay > 0, "a frame is sent before it is offered")
    onTheWay -= 1
    let entry = Entry(work: work, since: time)
    // queue-room: only waiting frames count. A frame in service has left the queue.
    guard isFull else {
      waiting.append(entry)
      return .accepted
    }
    switch policy {
    // queue-drop-newest: the queue stays the same; the offered frame ends.
    case .dropNewest: return .droppedNewest
    case .block:
      // queue-block: one place is enough, because the sender offers no other frame until it is
      // accepted.
      precondition(blocked == nil, "a sender offers one frame at a time")
      blocked = work
      return .blocked
    case .dropOldest, .replace:
      // queue-drop-oldest, queue-replace: the frame that has waited longest loses its place.
      let oldest = waiting.removeFirst()
      waiting.append(entry)
      return policy == .replace ? .replaced(oldest.work) : .droppedOldest(oldest.work)
    }
  }

  package subscript(place: Int) -> Entry { waiting[place] }

  /// The frame that was accepted last is ordered before its predecessor in the queue. As long as
  /// there is no such frame, the frame that has waited longest is next, and no frames are compared.
  package mutating func noteOvertaking() { hasOvertaking = true }

  /// Removes the frame at a position; the frame that waited longest is at 0.
  package mutating func take(at place: Int = 0) -> Entry? {
    defer { if waiting.isEmpty { hasOvertaking = false } }
    if place == 0 { return waiting.popFirst() }
    return waiting.indices.contains(place) ? waiting.remove(at: place) : nil
  }

  /// The blocked frame, the first time that a place is free. If several frames are removed at one
  /// instant, the blocked frame enters only once.
  package mutating func claimUnblock() -> Work? {
    guard !isUnblockDue, !isFull, let work = blocked else { return nil }
    // queue-unblock: a second event, made while the same event is handled, would have the same key.
    isUnblockDue = true
    return work
  }

  /// Accepts the blocked frame, now that a place is free.
  package mutating func unblock(at time: Int64) -> Work? {
    guard !isFull, let work = blocked else { return nil }
    blocked = nil
    isUnblockDue = false
    waiting.append(Entry(work: work, since: time))
    return work
  }
}
