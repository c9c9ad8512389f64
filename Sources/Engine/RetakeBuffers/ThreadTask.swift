/// A task whose body runs entirely on the thread that calls `run`.
///
/// A thread has no task-local values. This task has the task-local values of the code that made it,
/// so code that the thread calls, such as a sink, has them too. Swift Testing stores the current
/// test in a task-local value: without it, an expectation on a thread belongs to no test, and
/// cannot fail a test.
package final class ThreadTask: TaskExecutor {
  private let job = Locked<UnownedJob?>(nil)

  /// - Parameter body: Called by `run`.
  package init(_ body: @escaping @Sendable () -> Void) {
    // Enqueued here at once, and never resumed elsewhere: the body does not wait.
    Task(executorPreference: self) { body() }
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    self.job.withLock { $0 = job }
  }

  /// Runs the body on this thread, and returns after it. Called once.
  package func run() {
    guard let job = job.withLock({ $0 }) else { preconditionFailure("a new task is enqueued") }
    job.runSynchronously(on: asUnownedTaskExecutor())
  }
}
