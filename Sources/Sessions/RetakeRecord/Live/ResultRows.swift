import RetakeGraph
import RetakeRuntime

/// Writes the lines of results; only one thread at a time uses it.
final class ResultRows: @unchecked Sendable {
  // @unchecked: only the thread that notifies the sinks uses it, or the writer's thread.
  private var writer: LiveResultLines

  /// - Throws: `ResultTextError` for a precision that cannot be used.
  init(_ pipeline: Pipeline) throws {
    writer = try LiveResultLines(pipeline)
  }

  func lines(of result: LiveResult) -> [LiveResultLines.Line] { writer.lines(of: result) }
}
