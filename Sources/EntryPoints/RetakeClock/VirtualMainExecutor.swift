import Dispatch

/// The main actor's executor for the tasks of a scope. Jobs run in the scope's order and on the
/// main thread, as all other code of the main actor does; the scope waits meanwhile.
///
/// It lives for ever, because a task that is isolated to the main actor keeps an unowned reference.
final class VirtualMainExecutor: SerialExecutor {
  private static let shared = VirtualMainExecutor()

  static var reference: UnownedSerialExecutor { shared.asUnownedSerialExecutor() }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if let scope = Scope.open, scope.takes(job, onMain: true) { return }
    // A task that has outlived its scope.
    MainActor.shared.enqueue(job)
  }

  /// Calls `body` on the main thread.
  static func onMain(_ body: @escaping @Sendable () -> Void) {
    DispatchQueue.main.async(execute: body)
  }
}
