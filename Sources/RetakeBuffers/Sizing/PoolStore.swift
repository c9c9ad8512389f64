/// A live pool and its lock. It does not depend on the type of buffer, so that it is compiled once,
/// and fast.
final class PoolStore: Sendable {
  private struct State: Sendable {
    var book: PoolBook
    /// Buffers of the current generation that are not held.
    var idle: [IdleBuffer] = []
  }

  let id: String
  private let state: Locked<State>

  init(id: String, _ book: PoolBook) {
    self.id = id
    state = Locked(State(book: book))
  }

  /// - Returns: `nil` if all buffers are held; without a buffer if one has to be created.
  func take(for stage: String) -> (taken: PoolBook.Taken, idle: IdleBuffer?)? {
    state.withLock { state in
      guard let taken = state.book.take(for: stage) else { return nil }
      return (taken, state.idle.popLast())
    }
  }

  func end(_ buffer: IdleBuffer, _ taken: PoolBook.Taken) {
    state.withLock { state in
      if state.book.giveBack(taken) { state.idle.append(buffer) }
    }
  }

  func failed(_ taken: PoolBook.Taken) { state.withLock { $0.book.failed(taken) } }
  func noteDoubleEnd(_ taken: PoolBook.Taken) { state.withLock { $0.book.noteDoubleEnd(taken) } }
  func noteLeak(_ taken: PoolBook.Taken) { state.withLock { $0.book.noteLeak(taken) } }

  /// Changes the book, then releases the buffers that are too many.
  func changing<Result: Sendable>(_ change: (inout PoolBook) -> Result) -> Result {
    state.withLock { state in
      let generation = state.book.generation
      let result = change(&state.book)
      // A recreation replaces all buffers. Those that are held are dropped when they come back.
      if state.book.generation != generation { state.idle.removeAll() }
      let room = max(0, state.book.size - state.book.inUse)
      if state.idle.count > room { state.idle.removeLast(state.idle.count - room) }
      return result
    }
  }

  var report: PoolReport { state.withLock { $0.book.report } }
}
