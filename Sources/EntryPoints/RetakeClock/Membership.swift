/// Which jobs belong to a scope. A struct that decides from what a hook of the runtime can know.
///
/// The hooks are called for all jobs of the process, also for those of tests that run at the same time.
/// A job belongs to the scope if its task is known to, or if a task of the scope enqueues it. A new
/// task is enqueued by the task that creates it, so that all of a scope's tasks are known, from the
/// first one on. The numbers of tasks only grow: one below the first of the scope is not of the scope,
/// even if a task of the scope resumes it.
struct Membership {
  enum Verdict: Equatable {
    case pass
    /// It belongs to the scope.
    case take
    /// It belongs to the scope, but something outside enqueued it.
    case takeFromOutside
  }

  /// What the hook knows about who enqueues.
  enum Enqueuer: Equatable {
    /// Code that runs outside of every task.
    case noTask
    case task(UInt64)
  }

  private var tasks: Set<UInt64> = []
  private var first: UInt64?

  var isEmpty: Bool { first == nil }

  func contains(_ task: UInt64) -> Bool { tasks.contains(task) }

  /// Adds a task; the first one that is added is the body's.
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
