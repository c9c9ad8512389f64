package import RetakeCore
package import RetakeRuntime

/// Digests the rounded results of a run without keeping them.
final class ResultDigester: RunObserver {
  private var writer: ResultWriter

  init(header: ResultHeader, sinks: [ResultHeader.Sink]) {
    writer = ResultWriter(header: header, sinks: sinks)
  }

  func finished(_ frame: FinishedFrame) { writer.append(frame.result) }

  /// The digest of all results. `finished` must not be called afterwards.
  func finish() -> Digest128 {
    _ = writer.finish()
    return writer.digest
  }
}

/// Writes every decision line, unfolded, to a file. The file appears under its name only when it is
/// complete. A device or a pipe, such as /dev/stdout, is written to directly.
package final class UnfoldedDecisionWriter: RunObserver {
  private let file: WholeFile

  package var wantsDecisions: Bool { true }

  /// - Throws: `ReplayError.unwritable`.
  package convenience init(path: String) throws {
    self.init(try WholeFile(path: path, output: .decisions))
  }

  package init(_ file: WholeFile) {
    self.file = file
  }

  package func decided(_ line: DecisionLine) { file.append("\(line)\n".utf8) }

  package func finished(_ frame: FinishedFrame) throws { try file.check() }

  /// Finishes the file under its final name.
  ///
  /// - Throws: `ReplayError.unwritable`.
  package func finish() throws { try file.finish() }

  /// Removes the unfinished file after a run that failed.
  package func discard() { file.discard() }

  package var loss: ReplayError? { file.loss }
}
