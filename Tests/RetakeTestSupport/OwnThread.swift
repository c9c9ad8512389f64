import Foundation
import Testing

/// Runs each test of a suite on separate threads. A test waits for answers, and the server that
/// sends them works on the threads that tests use by default. On a small machine there are too few
/// of them for both.
package struct OwnThread: SuiteTrait, TestTrait, TestScoping {
  package var isRecursive: Bool { true }

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(ThreadExecutor.shared) { try await function() }
  }
}

extension Trait where Self == OwnThread {
  package static var onOwnThread: OwnThread { OwnThread() }
}

/// A thread for each job; tests have few of them.
final class ThreadExecutor: TaskExecutor {
  static let shared = ThreadExecutor()

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    Thread.detachNewThread { [self] in
      job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}
