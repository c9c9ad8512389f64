/// Lets a worker whose body has ended decide what follows, where nobody else decides.
final class WorkerTurns: Sendable {
  // SAFETY: only whoever has the decisions touches the loop and its driver, and the inbox gives them
  // to one thread at a time, under its lock: what one wrote is there for the next.
  private nonisolated(unsafe) let loop: DecisionLoop
  private nonisolated(unsafe) let driver: EventDriver
  private let inbox: LiveInbox

  init(of loop: DecisionLoop, driver: EventDriver, inbox: LiveInbox) {
    self.loop = loop
    self.driver = driver
    self.inbox = inbox
  }

  /// Says that a body has ended, and decides about it here if nobody else does.
  ///
  /// - Parameter isOnLane: The thread is a pinned stage's, and takes no other bodies.
  func end(_ message: LiveMessage, isOnLane: Bool) {
    guard inbox.postTakingUp(message) else { return }
    loop.turn(driver, takesNextBody: !isOnLane)
  }
}
