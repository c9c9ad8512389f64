/// Decides which jobs belong to a scope, from the facts that a hook of the runtime can know.
///
/// The runtime calls the hooks for all jobs of the process, including jobs of tests that run at the
/// same time. A job belongs to the scope if the scope knows the job's task, or if a task of the
/// scope enqueues the job. The task that creates a new task also enqueues it, so the scope knows
/// all its tasks from the first task on. The numbers of tasks only grow: a task with a number below
/// the scope's first task does not belong to the scope, even if a task of the scope resumes it.
struct Membership {
  enum Verdict: Equatable {
    case pass
    /// It belongs to the scope.
    case take
    /// It belongs to the scope, but something outside enqueued it.
    case takeFromOutside
  }

  /// The code that enqueues a job, as far as the hook can see.
  enum Enqueuer: Equatable {
    /// Code that runs outside of every task.
    case noTask
    case task(UInt64)
  }

  private var tasks: Set<UInt64> = []
  private var first: UInt64?

  var isEmpty: Bool { first == nil }

  func contains(_ task: UInt64) -> Bool { tasks.contains(task) }

  /// Adds a task; the first added task is the task of the body.
  mutating func add(_ task: UInt64) {
    if first == nil { first = task }
    tasks.insert(task)
  }

  /// - Parameters:
  ///   - job: The number of the job's task, or 0 for a job that is not a task, such as an actor's.
  ///   - isInside: Whether the calling thread runs a job of the scope.
  mutating func verdict(job: UInt64, by enqueuer: Enqueuer, isInside: Bool) -> Verdict {
    if job != 0, tasks.contains(job) { return isInside ? .take : .takeFromOutside }
    guard job == 0 || job > first ?? .max else { return .pass }
    let isOurs =
      switch enqueuer {
      // An actor's job, or the driver itself.
      case .noTask: isInside
      case .task(let task): tasks.contains(task)
      }
    guard isOurs else { return .pass }
    if job != 0 { tasks.insert(job) }
    return isInside ? .take : .takeFromOutside
  }
}
