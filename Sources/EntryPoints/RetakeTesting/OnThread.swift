import Retake

/// Runs blocking work on a separate thread, because Swift's threads have to be free for other
/// tests. The thread has the task-local values of the caller, so that an expectation in it belongs
/// to the test.
///
/// - Parameter body: Receives a function that returns whether the calling task is cancelled.
func onThread<Value: Sendable>(
  _ body: @escaping @Sendable (_ isInterrupted: @escaping @Sendable () -> Bool) throws -> Value
) async throws -> Value {
  let isCancelled = Locked(false)
  return try await withTaskCancellationHandler {
    try await withCheckedThrowingContinuation { end in
      do {
        _ = try NamedThread("retake-test") {
          end.resume(with: Result { try body { isCancelled.withLock { $0 } } })
        }
      } catch {
        end.resume(throwing: error)
      }
    }
  } onCancel: {
    isCancelled.withLock { $0 = true }
  }
}
