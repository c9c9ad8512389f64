import RetakeBuffers
import Synchronization

/// The thread of a pinned stage, and its queue.
final class Lane: Sendable {
  let queue: RunnableQueue
  let condition = ThreadCondition()
  /// The body that the thread is running.
  let body = Locked<WatchedBody?>(nil)

  init(number: Int) {
    queue = RunnableQueue(index: number)
  }

  func next() -> ValueFuture? {
    queue.popOldest(needed: true) ?? queue.popOldest(needed: false)
  }
}
