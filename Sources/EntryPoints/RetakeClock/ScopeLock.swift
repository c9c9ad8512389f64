import Synchronization

/// Lets one scope run at a time, because the hooks belong to the process. Waiting suspends a task
/// and blocks no thread, so that other tests continue.
final class ScopeLock: Sendable {
  static let shared = ScopeLock()

  private struct Waiter {
    var number: Int
    var turn: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var isTaken = false
    var numbersMade = 0
    /// In the order of arrival.
    var waiters: [Waiter] = []
    /// Cancelled before they waited.
    var cancelled: Set<Int> = []
  }

  private let state = Mutex(State())

  /// Returns when it is the caller's turn.
  ///
  /// - Throws: `CancellationError` if the task was cancelled before its turn; the caller then does
  ///   not hold the lock.
  func acquire() async throws {
    let number = state.withLock { state in
      state.numbersMade += 1
      return state.numbersMade
    }
    // A cancellation that arrives after the turn has come adds its number to `cancelled`.
    defer { _ = state.withLock { $0.cancelled.remove(number) } }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { wait(Waiter(number: number, turn: $0)) }
    } onCancel: {
      cancel(number)
    }
  }

  private func wait(_ waiter: Waiter) {
    let result: Result<Void, any Error>? = state.withLock { state in
      if state.cancelled.remove(waiter.number) != nil { return .failure(CancellationError()) }
      guard state.isTaken else {
        state.isTaken = true
        return .success(())
      }
      state.waiters.append(waiter)
      return nil
    }
    if let result { waiter.turn.resume(with: result) }
  }

  private func cancel(_ number: Int) {
    let waiter: Waiter? = state.withLock { state in
      guard let index = state.waiters.firstIndex(where: { $0.number == number }) else {
        state.cancelled.insert(number)
        return nil
      }
      return state.waiters.remove(at: index)
    }
    waiter?.turn.resume(throwing: CancellationError())
  }

  func release() {
    let next: Waiter? = state.withLock { state in
      guard !state.waiters.isEmpty else {
        state.isTaken = false
        return nil
      }
      return state.waiters.removeFirst()
    }
    next?.turn.resume()
  }
}
