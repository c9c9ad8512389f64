import Retake

/// Writes the results of a live pipeline as JSON lines, and passes both on.
final class LiveReporter: @unchecked Sendable {
  // @unchecked: the engine passes results on one at a time, so no two threads use `lines` at once.
  private var lines: LiveFrameLines
  private let reporter: ResultReporter

  /// - Throws: `ResultTextError` for a precision that cannot be used.
  init(_ pipeline: Pipeline, _ reporter: ResultReporter) throws {
    lines = try LiveFrameLines(pipeline)
    self.reporter = reporter
  }

  func tell(_ result: LiveResult) {
    reporter.tell(
      result.frame.result, classNames: result.frame.classNames, line: lines.line(of: result))
  }
}
