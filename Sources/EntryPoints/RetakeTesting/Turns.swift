import Retake

/// Lets only some tasks work at once. The others are suspended, in the order in which they came.
final class Turns: Sendable {
  private struct State: Sendable {
    var free: Int
    /// At most one for each case that Swift Testing has begun.
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Locked<State>

  init(count: Int) {
    state = Locked(State(free: max(1, count)))
  }

  func take<Value: Sendable>(
    _ body: @Sendable () async throws -> Value
  ) async rethrows -> Value {
    await withCheckedContinuation { turn in
      let isFree = state.withLock { state in
        guard state.free > 0 else {
          state.waiting.append(turn)
          return false
        }
        state.free -= 1
        return true
      }
      if isFree { turn.resume() }
    }
    defer { end() }
    return try await body()
  }

  private func end() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
      state.free += 1
      return nil
    }
    next?.resume()
  }
}
