import RetakeCore
import Synchronization

/// What the time plane does that may never end, for a watchdog on another thread to look at.
package final class RunWatch: Sendable {
  package enum Activity: Hashable, Sendable {
    /// Decides, or reads and writes: nothing that is watched.
    case free
    /// Runs a body by itself.
    case running(WatchedBody)
    /// Waits for a value, and this body, on another thread, is what keeps it from being there.
    case waiting(WatchedBody)
    /// Waits for the threads to end.
    case stopping
  }

  /// What a look sees: as long as it is the same, nothing goes on.
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
  /// Wakes the time plane where it waits.
  let bell = Bell()
  /// Rung when the run has ended.
  let isOver = Bell()

  package init() {}

  // MARK: The time plane's side

  func beginRunning(_ body: WatchedBody) { begin(.running(body)) }

  /// - Parameter culprit: Says, on the watchdog's thread, what holds the value up at that moment:
  ///   while the time plane sleeps, one body after the other may come and go. `nil` = nothing does.
  func beginWaiting(for culprit: @escaping @Sendable () -> WatchedBody?) {
    begin(.waiting(culprit))
  }

  func beginStopping() { begin(.stopping) }

  private func begin(_ doing: Doing) {
    state.withLock {
      $0.doing = doing
      $0.turn += 1
    }
  }

  /// What the watchdog has given up meanwhile, if it has.
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

  /// Gives up what was seen, unless it ended meanwhile.
  package func giveUp(_ sight: Sight) -> Bool {
    let isStill = state.withLock {
      guard $0.turn == sight.turn, !$0.doing.isFree else { return false }
      $0.givenUp = sight.activity
      return true
    }
    if isStill { bell.ring() }
    return isStill
  }
}

/// Somebody else's code at work on a frame, or on an item of it.
package struct WatchedBody: Hashable, Sendable {
  /// The node's number in the graph.
  package var node: Int
  package var frame: FrameID
  package var item: Int?
}

/// The body of a stage that does not come back: an engine fault, never a decision.
package struct HungBody: Error, Hashable {
  package var body: WatchedBody
}
