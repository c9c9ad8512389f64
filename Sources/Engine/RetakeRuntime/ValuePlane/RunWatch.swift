import Synchronization

/// The time plane's current activity, which may never end, for a watchdog on another thread.
package final class RunWatch: Sendable {
  package enum Activity: Hashable, Sendable {
    /// Decides, reads or writes. This is not watched.
    case free
    /// Runs a body itself.
    case running(WatchedBody)
    /// Waits for a value. This body, on another thread, delays the value.
    case waiting(WatchedBody)
    /// Waits for the threads to end.
    case stopping
  }

  /// The result of a look. As long as looks have the same result, the run does not advance.
  package struct Sight: Hashable, Sendable {
    package var activity: Activity
    /// Counts the activities.
    package var turn: UInt64
  }

  private enum Doing {
    case free
    case running(WatchedBody)
    case waiting(@Sendable () -> WatchedBody?)
    case stopping

    var isFree: Bool { if case .free = self { true } else { false } }
  }

  private struct State {
    var doing = Doing.free
    var turn: UInt64 = 0
    var givenUp: Activity?
  }

  private let state = Mutex(State())
  /// Wakes the time plane when it waits.
  let condition = ThreadCondition()
  /// Rung when the run has ended.
  let isOver = ThreadCondition()

  package init() {}

  // MARK: The time plane's side

  func beginRunning(_ body: WatchedBody) { begin(.running(body)) }

  /// - Parameter culprit: Returns the body that delays the value at that moment. It is called on
  ///   the watchdog's thread: while the time plane sleeps, one body after another may begin and
  ///   end. `nil` = no body delays it.
  func beginWaiting(for culprit: @escaping @Sendable () -> WatchedBody?) {
    begin(.waiting(culprit))
  }

  func beginStopping() { begin(.stopping) }

  private func begin(_ doing: Doing) {
    state.withLock {
      $0.doing = doing
      // Two calls of the same body are two turns, so fast calls are not mistaken for a call that
      // hangs.
      $0.turn += 1
    }
  }

  /// The activity that the watchdog has given up meanwhile, if any.
  func end() -> Activity? {
    state.withLock { state in
      defer {
        state.doing = .free
        state.givenUp = nil
      }
      return state.givenUp
    }
  }

  var isGivenUp: Bool { state.withLock { $0.givenUp != nil } }

  // MARK: The watchdog's side

  package func look() -> Sight {
    let (doing, turn) = state.withLock { ($0.doing, $0.turn) }
    let activity: Activity =
      switch doing {
      case .free: .free
      case .running(let body): .running(body)
      case .waiting(let culprit): culprit().map { .waiting($0) } ?? .free
      case .stopping: .stopping
      }
    return Sight(activity: activity, turn: turn)
  }

  /// Abandons the activity of a look, unless it ended meanwhile.
  package func giveUp(_ sight: Sight) -> Bool {
    let isStill = state.withLock {
      guard $0.turn == sight.turn, !$0.doing.isFree else { return false }
      $0.givenUp = sight.activity
      return true
    }
    if isStill { condition.signal() }
    return isStill
  }
}
