import Foundation
import Retake
import RetakePreview

/// The output of `retake record`: during the recording, and about its result.
final class RecordingReport {
  private let output: OutputOptions
  private let line: ProgressLine
  /// Whether results may be printed after the recording.
  private let leavesStandardOutput: Bool
  private let isFollowed: Bool
  /// Commits as JSON lines; `nil` if they were not requested. The writer's thread does not wait for
  /// a reader.
  private var commits: LineStream?
  private let outputs: RecordingOutputs?
  private let holder = Locked<String?>(nil)
  /// How the session ended, while only readers keep the command from ending.
  private let waiting = Locked<String?>(nil)

  /// - Throws: `SuiteError`, `ReplayError`, `RuntimeError`; no file is left in that case.
  init(_ live: LivePipelineOptions, of pipeline: LivePipeline?, _ output: OutputOptions) throws {
    self.output = output
    let wanted = live.outputs
    leavesStandardOutput = wanted.leavesStandardOutput
    isFollowed = wanted.follows
    line = ProgressLine(isQuiet: output.quiet || !wanted.leavesStandardOutput)
    let note: @Sendable (String) -> Void = { output.note($0) }
    outputs = try pipeline.map { try RecordingOutputs(wanted, of: $0, note: note) }
    guard output.json, !wanted.follows else { return }
    let file = WholeFile(
      stream: .standardOutput, name: "standard output", output: .results, endsWithReader: false)
    do {
      commits = try LineStream(file) { note("warning: \($0.message); the recording continues") }
    } catch {
      outputs?.discard()
      throw error
    }
  }

  /// What an interruption does where the recording has ended, and only a reader keeps the command
  /// from ending.
  var interrupted: @Sendable () -> Void {
    { [output, waiting] in
      guard let session = waiting.withLock({ $0 }) else { return }
      output.note("warning: lines that were not read are dropped; \(session)")
      _exit(ExitStatus.interrupted.rawValue)
    }
  }

  /// Receives the results of the pipeline.
  var watch: RecordingWatch? { outputs?.watch }

  /// Called by the recorder after each commit.
  var committed: @Sendable (RecordingProgress) -> Void {
    { [output, line, commits, holder, isFollowed] progress in
      if let name = progress.databaseHolder, holder.withLock({ RecordingReport.isNew(name, &$0) }) {
        output.note(RecordingText.held(by: name))
      }
      if progress.ringIsShort == true { output.note(RecordingText.shortRing) }
      if let commits {
        if let text = try? Console.jsonText(progress, isPretty: false) { commits.add(text + "\n") }
      } else if !isFollowed {
        line.show(RecordingText.line(progress))
      }
    }
  }

  private static func isNew(_ holder: String, _ told: inout String?) -> Bool {
    defer { told = holder }
    return told != holder
  }

  /// Discards unfinished outputs after a recording that failed.
  func discard() {
    line.finish()
    outputs?.discard()
    // Earlier commits are still written.
    _ = try? commits.take()?.finish()
  }

  /// Writes the remaining output, and prints the result of the recording.
  ///
  /// - Throws: `CommandEnd`, and the error that prevented an output from being written.
  func finish(_ result: RecordingResult, preview: WindowFigures?) throws {
    line.finish()
    let session =
      result.isClosed
      ? "the session is closed"
      : "the session is not closed; type: retake session recover \(result.folder.path.shellWord)"
    waiting.withLock { $0 = session }
    let written = outputs?.finish(result) { line.update("tracing", done: $0, total: nil) }
    line.finish()
    let committed = Result { try commits.take()?.finish() }
    waiting.withLock { $0 = nil }
    try show(result, written?.lines ?? RecordingLines(), preview)
    note(result)
    try end(result) {
      if let failure = written?.failure { throw failure }
      _ = try committed.get()
    }
  }

  private func show(
    _ result: RecordingResult, _ lines: RecordingLines, _ preview: WindowFigures?
  ) throws {
    if isFollowed {
      let summary = RecordingSummary(progress: result.progress, lines: lines, preview: preview)
      let line = JSONValue.object(["summary": try JSONValue(encoding: summary)])
      return Console.data(line.canonicalText)
    }
    if output.json {
      if let metadata = lines.metadata { try Console.json(["metadata": metadata], isPretty: false) }
      if let preview { try Console.json(["preview": preview], isPretty: false) }
      return
    }
    for line in RecordingText.result(result) { say(line) }
    if let pipeline = result.progress.pipeline, case .success? = result.pipeline {
      say(RecordingText.pipeline(pipeline))
    }
    if let preview { say(WindowText.of(preview)) }
  }

  private func say(_ text: String) {
    if leavesStandardOutput { Console.result(text) } else { output.note(text) }
  }

  private func note(_ result: RecordingResult) {
    if let probe = result.probe, probe.isTight { output.note(RecordingText.tight(probe)) }
    guard case .success(let outcome) = result.pipeline else { return }
    for text in outcome.failureLines { output.note("warning: \(text)") }
  }

  /// - Parameter check: Throws the error that prevented an output from being written.
  private func end(_ result: RecordingResult, check: () throws -> Void) throws {
    if let failure = result.failure {
      Console.error(failure)
      throw CommandEnd(status: .trouble)
    }
    try check()
    switch result.pipeline {
    case .failure(let error)?: throw error
    case .success(let outcome)?:
      guard let halt = outcome.halt else { break }
      Console.note("error: the pipeline was halted: \(halt)")
      throw CommandEnd(status: .trouble)
    case nil: break
    }
    if result.end == .stopped, Interruption.isRequested {
      throw CommandEnd(status: .interrupted)
    }
  }
}

/// The last line of `record --follow`: the last commit, and the counts of lines and preview.
struct RecordingSummary: Encodable {
  var progress: RecordingProgress
  var lines: RecordingLines
  var preview: WindowFigures?

  private enum CodingKeys: String, CodingKey {
    case lines, metadata, preview
  }

  func encode(to encoder: any Encoder) throws {
    try progress.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodeIfPresent(lines.lines, forKey: .lines)
    try container.encodeIfPresent(lines.metadata, forKey: .metadata)
    try container.encodeIfPresent(preview, forKey: .preview)
  }
}
