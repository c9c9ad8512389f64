import Retake

/// Writes the results of a live pipeline as JSON lines, and passes both on.
final class LiveTeller: @unchecked Sendable {
  // @unchecked: the engine passes results on one at a time, so no two threads use `lines` at once.
  private var lines: LiveFrameLines
  private let teller: ResultTeller

  /// - Throws: `ResultTextError` for a precision that cannot be used.
  init(_ pipeline: Pipeline, _ teller: ResultTeller) throws {
    lines = try LiveFrameLines(pipeline)
    self.teller = teller
  }

  func tell(_ result: LiveResult) {
    teller.tell(
      result.frame.result, classNames: result.frame.classNames, line: lines.line(of: result))
  }
}
