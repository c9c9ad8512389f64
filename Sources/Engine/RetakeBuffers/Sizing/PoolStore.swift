/// A live pool and its lock. It does not depend on the type of buffer, so that it is compiled once,
/// and fast.
package final class PoolStore: Sendable {
  /// How many buffers wait for the next lease at most, if the pool's size is not the bound.
  struct IdleBounds: Sendable {
    var count = Int.max
    var bytes = Int.max
  }

  /// The memory of a pool whose buffers have a number of bytes.
  package struct Memory: Hashable, Sendable {
    /// Of all buffers, leased or idle.
    package var bytes = 0
    /// The most of them at once.
    package var bytesMost = 0
    /// Leases that needed new memory.
    package var made = 0
    /// Leases that reused memory.
    package var reused = 0
  }

  private struct State: Sendable {
    var book: PoolCounters
    /// Buffers of the current generation that are not held, oldest first.
    var idle: [IdleBuffer] = []
    var idleBytes = 0
    var memory = Memory()

    /// The buffers that are too many, and that the caller releases without the lock.
    mutating func surplus(_ bounds: IdleBounds) -> [IdleBuffer] {
      let room = min(max(0, book.size - book.inUse), bounds.count)
      var surplus: [IdleBuffer] = []
      // Bounded: each turn removes a buffer.
      while let oldest = idle.first, idle.count > room || idleBytes > bounds.bytes {
        idle.removeFirst()
        forget(oldest)
        surplus.append(oldest)
      }
      return surplus
    }

    /// All of them, which the caller releases without the lock.
    mutating func takeIdle() -> [IdleBuffer] {
      for buffer in idle { forget(buffer) }
      defer { idle = [] }
      return idle
    }

    private mutating func forget(_ buffer: IdleBuffer) {
      idleBytes -= buffer.byteCount
      memory.bytes -= buffer.byteCount
    }
  }

  let id: String
  private let idle: IdleBounds
  private let state: Locked<State>

  init(id: String, _ book: PoolCounters, idle: IdleBounds? = nil) {
    self.id = id
    self.idle = idle ?? IdleBounds()
    state = Locked(State(book: book))
  }

  /// - Parameters:
  ///   - isBounded: Otherwise a buffer is taken even if all are held.
  ///   - isSuitable: Whether an idle buffer can be used.
  /// - Returns: `nil` if all buffers are held; without a buffer if one has to be created.
  func take(
    for stage: String, isBounded: Bool = true,
    where isSuitable: (IdleBuffer) -> Bool = { _ in true }
  ) -> (taken: PoolCounters.Taken, idle: IdleBuffer?)? {
    let (found, surplus) = state.withLock { state -> (Found?, [IdleBuffer]) in
      guard let taken = state.book.take(for: stage, isBounded: isBounded) else { return (nil, []) }
      guard let index = state.idle.lastIndex(where: isSuitable) else {
        // If needed, the pool drops an idle buffer of another kind for the new buffer.
        return (Found(taken: taken), state.surplus(idle))
      }
      let buffer = state.idle.remove(at: index)
      state.idleBytes -= buffer.byteCount
      state.memory.reused += 1
      return (Found(taken: taken, idle: buffer), [])
    }
    withExtendedLifetime(surplus) {}
    return found.map { ($0.taken, $0.idle) }
  }

  private struct Found: Sendable {
    var taken: PoolCounters.Taken
    var idle: IdleBuffer?
  }

  /// A lease has got new memory.
  func noteMade(_ bytes: Int) {
    state.withLock { state in
      state.memory.made += 1
      state.memory.bytes += bytes
      state.memory.bytesMost = max(state.memory.bytesMost, state.memory.bytes)
    }
  }

  /// Keeps a new buffer for the next lease of its size.
  ///
  /// - Returns: Whether the pool keeps the buffer.
  func add(_ buffer: IdleBuffer) -> Bool {
    state.withLock { state in
      guard state.idle.count < min(max(0, state.book.size - state.book.inUse), idle.count),
        state.idleBytes + buffer.byteCount <= idle.bytes
      else { return false }
      state.idle.append(buffer)
      state.idleBytes += buffer.byteCount
      state.memory.bytes += buffer.byteCount
      state.memory.bytesMost = max(state.memory.bytesMost, state.memory.bytes)
      return true
    }
  }

  func end(_ buffer: IdleBuffer, _ taken: PoolCounters.Taken) {
    // Buffers are released without the lock, because a release may be slow or call foreign code.
    let surplus = state.withLock { state -> [IdleBuffer] in
      guard state.book.giveBack(taken) else {
        state.memory.bytes -= buffer.byteCount
        return [buffer]
      }
      state.idle.append(buffer)
      state.idleBytes += buffer.byteCount
      return state.surplus(idle)
    }
    withExtendedLifetime(surplus) {}
  }

  func failed(_ taken: PoolCounters.Taken) { state.withLock { $0.book.failed(taken) } }
  func noteDoubleEnd(_ taken: PoolCounters.Taken) {
    state.withLock { $0.book.noteDoubleEnd(taken) }
  }
  func noteLeak(_ taken: PoolCounters.Taken) { state.withLock { $0.book.noteLeak(taken) } }

  /// Releases the buffers that are not held.
  func dropIdle() {
    let dropped = state.withLock { $0.takeIdle() }
    withExtendedLifetime(dropped) {}
  }

  /// Changes the book, then releases the buffers that are too many.
  func changing<Result: Sendable>(_ change: (inout PoolCounters) -> Result) -> Result {
    let (result, surplus) = state.withLock { state -> (Result, [IdleBuffer]) in
      let generation = state.book.generation
      let result = change(&state.book)
      // A recreation replaces all buffers. Held buffers are dropped when they come back.
      let replaced = state.book.generation == generation ? [] : state.takeIdle()
      return (result, replaced + state.surplus(idle))
    }
    withExtendedLifetime(surplus) {}
    return result
  }

  var report: PoolReport { state.withLock { $0.book.report } }
  var size: Int { state.withLock { $0.book.size } }
  var memory: Memory { state.withLock { $0.memory } }
}
