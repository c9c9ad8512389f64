import RetakeCore

/// What one node repeats for frames that fail: the value that left it last.
struct FallbackStateMachine: Sendable {
  struct Value: Sendable {
    var slot: Int
    /// The frame that the value was computed for.
    var origin: FrameID
  }

  private(set) var previous: Value?
  /// Frames that failed and wait for their turn to get a fallback, with the codes of the failures.
  private var failures: [(work: Work, code: String)] = []

  mutating func wait(_ work: Work, code: String) { failures.append((work, code)) }

  /// It is the failed frame's turn.
  ///
  /// - Returns: The code of its failure.
  mutating func end(_ work: Work) -> String? {
    guard let index = failures.firstIndex(where: { $0.work == work }) else { return nil }
    return failures.remove(at: index).code
  }

  /// - Returns: The value that is not needed any more.
  mutating func remember(_ value: Value) -> Value? {
    defer { previous = value }
    return previous
  }
}
