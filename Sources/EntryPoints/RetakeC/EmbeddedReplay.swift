import CRetake
import Retake

/// A replay for a caller in another language.
struct EmbeddedReplay {
  private let replay: Replay

  /// - Parameter session: The path of the session's folder; `nil` for a pipeline with frames of its
  ///   own.
  /// - Throws: `PipelineError`, `RuntimeError`, `ReplayError`, `SessionError`.
  init(_ document: Document, session: String?, options: RunOptions) throws {
    let reader = try session.map { try SessionReader(opening: $0) }
    replay = try Replay(
      document.pipeline, reader: reader, catalog: document.catalog,
      request: Replay.Request(
        sessionName: reader?.folder.name, caseName: document.pipeline.name, options: options))
  }

  /// - Throws: The errors of `Replay.run`.
  func run(_ reporter: ResultReporter?) throws -> RunSummary {
    try replay.run(observers: try reporter.map { [try ReplayReporter(replay, $0)] } ?? [])
  }
}

/// Passes on each frame of a replay with its JSON line.
private final class ReplayReporter: RunObserver {
  private final class Line { var text = "" }

  private let line = Line()
  private let lines: ResultLines
  private let reporter: ResultReporter

  var wantsDecisions: Bool { true }
  var isFollowed: Bool { true }

  init(_ replay: Replay, _ reporter: ResultReporter) throws {
    self.reporter = reporter
    lines = try ResultLines(of: replay) { [line] in line.text = $0 }
  }

  func decided(_ decision: DecisionLine) { lines.decided(decision) }

  func finished(_ frame: FinishedFrame) throws {
    try lines.finished(frame)
    reporter.tell(frame.result, classNames: frame.classNames, line: line.text)
  }
}
