import RetakeCore
import Synchronization

/// What the time plane does that may never end, for a watchdog on another thread to look at.
package final class RunWatch: Sendable {
  package enum Activity: Hashable, Sendable {
    /// Decides, or reads and writes: nothing that is watched.
    case free
    /// Runs a body by itself.
    case running(node: Int, frame: FrameID)
    /// Waits for a body that runs on another thread.
    case waiting(node: Int, frame: FrameID)
    /// Waits for the threads to end.
    case stopping
  }

  private struct State {
    var activity = Activity.free
    /// Counts the activities.
    var turn: UInt64 = 0
    var isGivenUp = false
  }

  private let state = Mutex(State())
  /// Wakes the time plane where it waits.
  let bell = Bell()
  /// Rung when the run has ended.
  let isOver = Bell()

  package init() {}

  // MARK: The time plane's side

  func begin(_ activity: Activity) {
    state.withLock {
      $0.activity = activity
      $0.turn += 1
    }
  }

  /// `false` when the watchdog has given the activity up meanwhile.
  func end() -> Bool {
    state.withLock { state in
      defer {
        state.activity = .free
        state.isGivenUp = false
      }
      return !state.isGivenUp
    }
  }

  var isGivenUp: Bool { state.withLock { $0.isGivenUp } }

  // MARK: The watchdog's side

  package func look() -> (activity: Activity, turn: UInt64) {
    state.withLock { ($0.activity, $0.turn) }
  }

  /// Gives up the activity of this turn, unless it ended meanwhile.
  package func giveUp(turn: UInt64) -> Bool {
    let isStill = state.withLock {
      guard $0.turn == turn, $0.activity != .free else { return false }
      $0.isGivenUp = true
      return true
    }
    if isStill { bell.ring() }
    return isStill
  }
}
