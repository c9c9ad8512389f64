package import RetakeCore

/// Checks whether all frames that some work creates get memory.
///
/// The body of a stage creates frames and usually cannot throw. If there is no memory, it gets
/// storage without pixels, and its results are discarded. If the work is not checked, the process
/// ends instead.
package final class FrameShortage: Sendable {
  @TaskLocal private static var watching: FrameShortage?

  private let noted = Locked<ErrorFacts?>(nil)
  private let isChecked: Bool
  /// Where the frames of the work get their memory; `nil` means the heap.
  private let supply: FrameSupply?

  private init(isChecked: Bool, supply: FrameSupply?) {
    // Nested work gets its memory from the same supply, unless it has a separate supply.
    (self.isChecked, self.supply) = (isChecked, supply ?? Self.supply)
  }

  /// Calls `body`. Fails if a frame that `body` created on this thread got no memory.
  ///
  /// - Parameter supply: Where the frames that `body` creates on this thread get their memory.
  package static func checked<Value>(
    in supply: FrameSupply? = nil, _ body: () -> Value
  ) -> Result<Value, ErrorFacts> {
    let shortage = FrameShortage(isChecked: true, supply: supply)
    let value = $watching.withValue(shortage) { body() }
    if let error = shortage.noted.withLock({ $0 }) { return .failure(error) }
    return .success(value)
  }

  /// Calls `body` without checking whether its frames get memory.
  static func unchecked<Value>(
    in supply: FrameSupply?, _ body: () throws -> Value
  ) rethrows -> Value {
    try $watching.withValue(FrameShortage(isChecked: false, supply: supply)) { try body() }
  }

  static var supply: FrameSupply? { watching?.supply }

  /// Called by work that got no memory for its pixels. The results of the work are discarded; if
  /// the work is not checked, the process ends.
  package static func fail(_ error: ErrorFacts) {
    guard note(error) else { preconditionFailure("out of memory: \(error)") }
  }

  /// - Returns: `false` if the work of this thread is not checked.
  static func note(_ error: ErrorFacts) -> Bool {
    guard let watching, watching.isChecked else { return false }
    // The first error is the cause; later errors may be consequences.
    watching.noted.withLock { $0 = $0 ?? error }
    return true
  }
}

extension ErrorFacts {
  /// There was no memory for a frame of this size in pixels. Its content is not the cause.
  package static func frameMemory(width: Int, height: Int) -> Self {
    Self(
      "frame.memory", "there was no memory for a frame of \(width)x\(height)",
      advice: "Allow more memory (ulimit -v), or end other programs", kind: .memory)
  }
}
