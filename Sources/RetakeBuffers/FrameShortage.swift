/// Whether frames that some work made found memory.
///
/// The body of a stage makes frames and, as a rule, cannot throw: where there is no memory it gets
/// storage without pixels, and what it computes of that is thrown away. Work that nothing checks
/// ends the process instead.
package final class FrameShortage: Sendable {
  @TaskLocal private static var watching: FrameShortage?

  private let noted = Locked<FrameMemoryError?>(nil)

  private init() {}

  /// Calls `body`, and fails if a frame that it made on this thread found no memory.
  package static func checked<Value>(_ body: () -> Value) -> Result<Value, FrameMemoryError> {
    let shortage = FrameShortage()
    let value = $watching.withValue(shortage) { body() }
    if let error = shortage.noted.withLock({ $0 }) { return .failure(error) }
    return .success(value)
  }

  /// For work that found no memory for pixels of its own: it is thrown away, or the process ends if
  /// nothing checks it.
  package static func fail(_ error: FrameMemoryError) {
    guard note(error) else { preconditionFailure("out of memory: \(error)") }
  }

  /// - Returns: `false` if nothing checks the work of this thread.
  static func note(_ error: FrameMemoryError) -> Bool {
    guard let watching else { return false }
    watching.noted.withLock { $0 = $0 ?? error }
    return true
  }
}
