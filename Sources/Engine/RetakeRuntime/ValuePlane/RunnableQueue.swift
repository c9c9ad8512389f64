import Synchronization

/// Futures that can run; needed futures and speculation are separate. The owner takes the newest
/// future, all other threads take the oldest.
///
/// A future that is run or cancelled by a thread that did not take it from here is removed, because
/// its value holds pixels.
final class RunnableQueue: Sendable {
  /// Its number among the queues of its kind.
  let index: Int

  private struct Rings {
    var needed = FutureRing()
    var speculative = FutureRing()

    mutating func append(_ future: ValueFuture, isNeeded: Bool) -> Int {
      isNeeded ? needed.append(future) : speculative.append(future)
    }
  }

  private let rings = Mutex(Rings())
  private let neededCount = Atomic(0)
  private let speculativeCount = Atomic(0)

  private let queued: QueuedCount

  /// - Parameter queued: Shared by all queues of the same threads.
  init(index: Int, queued: QueuedCount = QueuedCount()) {
    self.index = index
    self.queued = queued
  }

  /// A thread that wants to rest looks here after it has registered as resting. A thread that
  /// appends looks for resting workers afterwards. So one of the two sees the other.
  func isEmpty(ofNeeded: Bool) -> Bool {
    let count =
      ofNeeded
      ? neededCount.load(ordering: .sequentiallyConsistent)
      : speculativeCount.load(ordering: .sequentiallyConsistent)
    return count == 0
  }

  var isEmpty: Bool { isEmpty(ofNeeded: true) && isEmpty(ofNeeded: false) }

  /// Appends a future that can run, unless a thread has claimed it meanwhile.
  func append(_ future: ValueFuture) -> Bool {
    rings.withLock { rings in
      // At most twice: a future becomes needed only once.
      while future.current.status == .waiting {
        let isNeeded = future.current.isNeeded
        let position = rings.append(future, isNeeded: isNeeded)
        if future.note(QueuePlace(queue: index, position: position, isNeeded: isNeeded)) {
          count(1, isNeeded: isNeeded)
          return true
        }
        _ = isNeeded ? rings.needed.popNewest() : rings.speculative.popNewest()
      }
      return false
    }
  }

  func popNewest(needed isNeeded: Bool) -> ValueFuture? {
    if isEmpty(ofNeeded: isNeeded) { return nil }
    return rings.withLock { rings in
      let future = isNeeded ? rings.needed.popNewest() : rings.speculative.popNewest()
      if future != nil { count(-1, isNeeded: isNeeded) }
      return future
    }
  }

  func popOldest(needed isNeeded: Bool) -> ValueFuture? {
    if isEmpty(ofNeeded: isNeeded) { return nil }
    return rings.withLock { rings in
      let future = isNeeded ? rings.needed.popOldest() : rings.speculative.popOldest()
      if future != nil { count(-1, isNeeded: isNeeded) }
      return future
    }
  }

  /// Removes a future that a thread has claimed without taking it from here.
  func remove(_ future: ValueFuture, at place: QueuePlace) {
    rings.withLock { rings in
      let isThere =
        place.isNeeded
        ? rings.needed.remove(future, at: place.position)
        : rings.speculative.remove(future, at: place.position)
      if isThere { count(-1, isNeeded: place.isNeeded) }
    }
  }

  /// Moves speculation that became needed to the end of the needed futures.
  func promote(_ future: ValueFuture, at place: QueuePlace) {
    rings.withLock { rings in
      guard rings.speculative.remove(future, at: place.position) else { return }
      let position = rings.needed.append(future)
      future.move(to: QueuePlace(queue: index, position: position, isNeeded: true))
      // In this order, so that no thread sees an empty queue in between.
      count(1, isNeeded: true)
      count(-1, isNeeded: false)
    }
  }

  private func count(_ change: Int, isNeeded: Bool) {
    queued.add(change)
    if isNeeded {
      neededCount.add(change, ordering: .sequentiallyConsistent)
    } else {
      speculativeCount.add(change, ordering: .sequentiallyConsistent)
    }
  }
}

/// The number of futures in several queues together. Threads that look for work read it, because it
/// is one place in memory.
final class QueuedCount: Sendable {
  private let count = Atomic(0)

  var isZero: Bool { count.load(ordering: .sequentiallyConsistent) == 0 }

  func add(_ change: Int) { count.add(change, ordering: .sequentiallyConsistent) }
}

/// Where a future was queued.
struct QueuePlace: Sendable {
  /// The number of the queue; for a future with a lane, the number of the lane.
  var queue: Int
  /// Counted from the start of the queue. A position is reused after the newest future was taken.
  var position: Int
  var isNeeded: Bool
}

/// A ring of futures with stable positions, so that one in the middle can be removed.
struct FutureRing: Sendable {
  private static let capacityMin = 16

  /// The length is a power of two; the slot of a position is the position modulo the length.
  private var slots: [ValueFuture?] = Array(repeating: nil, count: capacityMin)
  /// Unless the ring is empty, the slots of the first and of the last position are occupied.
  private var first = 0
  private var end = 0

  var isEmpty: Bool { first == end }

  /// - Returns: Its position.
  mutating func append(_ future: ValueFuture) -> Int {
    if end - first == slots.count { grow() }
    slots[slot(end)] = future
    end += 1
    return end - 1
  }

  mutating func popOldest() -> ValueFuture? {
    guard !isEmpty else { return nil }
    defer { trim() }
    return take(first)
  }

  mutating func popNewest() -> ValueFuture? {
    guard !isEmpty else { return nil }
    defer { trim() }
    return take(end - 1)
  }

  /// `false` if the future is no longer there.
  mutating func remove(_ future: ValueFuture, at position: Int) -> Bool {
    guard (first..<end).contains(position), slots[slot(position)] === future else { return false }
    slots[slot(position)] = nil
    trim()
    return true
  }

  private mutating func take(_ position: Int) -> ValueFuture? {
    defer { slots[slot(position)] = nil }
    return slots[slot(position)]
  }

  /// The cost is amortized: each turn skips one slot that an append added.
  private mutating func trim() {
    while first < end, slots[slot(first)] == nil { first += 1 }
    while first < end, slots[slot(end - 1)] == nil { end -= 1 }
  }

  private func slot(_ position: Int) -> Int { position & (slots.count - 1) }

  private mutating func grow() {
    var larger = [ValueFuture?](repeating: nil, count: 2 * slots.count)
    for position in first..<end { larger[position & (larger.count - 1)] = slots[slot(position)] }
    slots = larger
  }
}
