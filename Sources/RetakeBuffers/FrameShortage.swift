/// Checks whether all frames that some work creates get memory.
///
/// The body of a stage creates frames and usually cannot throw. If there is no memory, it gets
/// storage without pixels, and its results are discarded. If the work is not checked, the process
/// ends instead.
package final class FrameShortage: Sendable {
  @TaskLocal private static var watching: FrameShortage?

  private let noted = Locked<FrameMemoryError?>(nil)

  private init() {}

  /// Calls `body`. Fails if a frame that `body` created on this thread got no memory.
  package static func checked<Value>(_ body: () -> Value) -> Result<Value, FrameMemoryError> {
    let shortage = FrameShortage()
    let value = $watching.withValue(shortage) { body() }
    if let error = shortage.noted.withLock({ $0 }) { return .failure(error) }
    return .success(value)
  }

  /// Called by work that got no memory for pixels of its own. Its results are discarded; if the
  /// work is not checked, the process ends.
  package static func fail(_ error: FrameMemoryError) {
    guard note(error) else { preconditionFailure("out of memory: \(error)") }
  }

  /// - Returns: `false` if the work of this thread is not checked.
  static func note(_ error: FrameMemoryError) -> Bool {
    guard let watching else { return false }
    // The first one is the cause; what fails after it may be a consequence.
    watching.noted.withLock { $0 = $0 ?? error }
    return true
  }
}
