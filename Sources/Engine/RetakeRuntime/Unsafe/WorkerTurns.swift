/// Lets a worker whose body has ended decide what follows, if no other thread decides.
final class WorkerTurns: Sendable {
  // SAFETY: only the thread that has the decisions uses the loop and its driver. The inbox gives
  // them to one thread at a time, under its lock, so the next thread sees what the last one wrote.
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
  /// - Parameter isOnLane: Whether the thread belongs to a pinned stage, and takes no other bodies.
  func end(_ message: LiveMessage, isOnLane: Bool) {
    guard inbox.postTakingUp(message) else { return }
    loop.turn(driver, takesNextBody: !isOnLane)
  }
}
