/// Lets a worker whose body has ended run the decision loop, if no other thread runs it.
final class WorkerTurns: Sendable {
  // SAFETY: only the thread that has the decisions uses the loop and its driver. The inbox passes
  // them to one thread at a time, under its lock, so the next thread sees all writes of the last
  // thread.
  private nonisolated(unsafe) let loop: DecisionLoop
  private nonisolated(unsafe) let driver: EventDriver
  private let inbox: LiveInbox

  init(of loop: DecisionLoop, driver: EventDriver, inbox: LiveInbox) {
    self.loop = loop
    self.driver = driver
    self.inbox = inbox
  }

  /// Reports that a body has ended, and decides about it here if no other thread decides.
  ///
  /// - Parameter isOnLane: Whether the thread belongs to a pinned stage, and runs no other bodies.
  func end(_ message: LiveMessage, isOnLane: Bool) {
    guard inbox.postTakingUp(message) else { return }
    loop.turn(driver, takesNextBody: !isOnLane)
  }
}
