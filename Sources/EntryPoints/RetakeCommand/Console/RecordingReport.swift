import Foundation
import Retake

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
  /// Reports failures in the pipeline; `nil` without a pipeline.
  private let failures: FailureLog?
  /// The messages during the recording. No thread of the recorder or of the pipeline waits for a
  /// terminal that is paused.
  private var notes: LineStream?
  private let holder = Locked<String?>(nil)
  /// The number of the progress's notes that were printed.
  private let noted = Locked(0)
  /// How the session ended, while only readers keep the command from ending.
  private let waiting = Locked<String?>(nil)

  /// - Parameter session: The folder of the new session.
  /// - Throws: `SuiteError`, `ReplayError`, `RuntimeError`; in that case no file remains.
  init(
    _ live: LivePipelineOptions, of pipeline: LivePipeline?, session: String,
    _ output: OutputOptions
  ) throws {
    self.output = output
    let wanted = live.outputs
    leavesStandardOutput = wanted.leavesStandardOutput
    isFollowed = wanted.follows
    // Lines on standard output may go to the same terminal, and the progress would be drawn into
    // them.
    let line = ProgressLine(isQuiet: output.quiet || !wanted.leavesStandardOutput, waits: false)
    self.line = line
    let note: @Sendable (String) -> Void = { output.note($0, replacing: line) }
    outputs = try pipeline.map { try RecordingOutputs(wanted, of: $0, note: note) }
    let notes = RecordingReport.noteStream()
    self.notes = notes
    let again = RecordingText.replay(session, pipeline: live.pipeline ?? "P")
    failures = pipeline.map { _ in
      FailureLog { message in
        let text: String
        switch message {
        case .warning(let warning):
          guard !output.quiet else { return }
          text = warning
        case .halted(let failure): text = RecordingText.halted(failure, next: again)
        }
        RecordingReport.add(text, to: notes, replacing: line)
      }
    }
    // With --follow standard output has the result lines, and the last commit is in their summary.
    guard output.json, !wanted.follows else { return }
    // A reader such as `head` that leaves must not end the recording.
    do {
      commits = try LineStream(
        to: ProcessContext.current.output, name: ReplayError.standardOutput
      ) {
        note("warning: \($0.lossText); the recording continues")
      }
    } catch {
      // The recording does not start, so no unfinished output stays.
      discard()
      throw error
    }
  }

  /// A stream for messages. If no thread can be created, they are printed where they are noticed.
  private static func noteStream() -> LineStream? {
    // The kind of output appears in no message: without standard error there is no message.
    try? LineStream(to: ProcessContext.current.errors, name: ReplayError.standardError)
  }

  /// Prints a line about the recording without waiting for a terminal, from any thread.
  var warn: @Sendable (String) -> Void {
    let (notes, line, output) = (notes, line, output)
    return { if !output.quiet { Self.add($0, to: notes, replacing: line) } }
  }

  private static func add(_ text: String, to notes: LineStream?, replacing line: ProgressLine) {
    guard let notes else { return Console.note(text, after: line.eraser) }
    notes.add(line.eraser + Console.noteText(text) + "\n")
  }

  /// The action of an interruption after the end of the recording, while only a reader keeps the
  /// command from ending.
  var interrupted: @Sendable () -> Void {
    { [output, waiting] in
      guard let session = waiting.withLock({ $0 }) else { return }
      output.note("warning: lines that were not read are dropped; \(session)")
      _exit(ExitStatus.interrupted.rawValue)
    }
  }

  /// Receives the results and the decisions of the pipeline, and the changes of the source.
  var watch: RecordingWatch? {
    let log = failures.map { failures in
      RecordingWatch(
        captured: { _ in }, found: { failures.found($0) }, decided: { failures.decided($0) })
    }
    let warn = warn
    let source = RecordingWatch(sourceChanged: { warn(RecordingText.source($0)) })
    return RecordingWatch([outputs?.watch, log, source].compactMap(\.self))
  }

  /// Reports the halt of the shadow pipeline when it happens: a recording without an end would not.
  var shadowWatch: RecordingWatch {
    let (notes, line) = (notes, line)
    return RecordingWatch(
      captured: { _ in },
      found: { result in
        guard let halt = result.frame.failures.first(where: { !$0.isRecoverable }) else { return }
        Self.add(RecordingText.shadowHalted(halt), to: notes, replacing: line)
      })
  }

  /// Receives the notices of stages about themselves; `nil` without a pipeline.
  var noticed: (@Sendable (StageNotice) -> Void)? {
    guard let failures else { return nil }
    return { failures.noticed($0) }
  }

  /// Called by the recorder after each commit, on the thread that writes the session. It waits for
  /// no reader and no terminal.
  var committed: @Sendable (RecordingProgress) -> Void {
    { [output, line, commits, notes, failures, holder, noted, isFollowed] progress in
      func note(_ text: String) {
        if !output.quiet { RecordingReport.add(text, to: notes, replacing: line) }
      }
      if let name = progress.databaseHolder, holder.withLock({ RecordingReport.isNew(name, &$0) }) {
        note(RecordingText.held(by: name))
      }
      let told = progress.notes ?? []
      let known = noted.withLock { known in
        defer { known = max(known, told.count) }
        return known
      }
      for text in told.dropFirst(known) { note("note: \(text)") }
      if progress.ringIsShort == true { note(RecordingText.shortRing) }
      if let pipeline = progress.pipeline { failures?.found(lost: pipeline.dropped) }
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
    endNotes()
    line.finish()
    outputs?.discard()
    // Earlier commits are still written.
    _ = try? commits.take()?.finish()
  }

  /// Prints the messages that wait.
  private func endNotes() { _ = try? notes.take()?.finish() }

  /// Writes the remaining output, and prints the result of the recording.
  ///
  /// - Throws: `CommandEnd`, and the error that prevented an output from being written.
  func finish(_ result: RecordingResult, preview: PreviewSummary?) throws {
    if case .success(let outcome)? = result.pipeline {
      failures?.finish(outcome.failures, of: outcome.failureCount)
    }
    // Notes from the end of the recording, after the last commit.
    for text in (result.progress.notes ?? []).dropFirst(noted.withLock { $0 }) {
      warn("note: \(visible(text))")
    }
    endNotes()
    line.finish()
    let session =
      result.isClosed
      ? "the session is closed"
      : "the session is not closed; type: retake session recover \(result.folder.path.shellWord)"
    // The session does not depend on the following steps. Until the lines are read, Ctrl-C loses
    // only lines, and ends the command at once.
    waiting.withLock { $0 = session }
    let written = outputs?.finish(result) { line.update("tracing", done: $0, total: nil) }
    line.finish()
    // Thrown only at the end, so that the result is printed also when its lines were lost. Taken,
    // because `discard` follows in any case.
    let committed = Result { try commits.take()?.finish() }
    if !isFollowed || !Self.isUnwritable(written?.failure) {
      try show(result, written?.lines ?? RecordingLines(), preview)
    }
    waiting.withLock { $0 = nil }
    if let probe = result.probe, probe.isTight { output.note(RecordingText.tight(probe)) }
    try end(result) {
      if let failure = written?.failure { throw failure }
      _ = try committed.get()
    }
  }

  /// Prints the counts of a recording in which no moment was kept. This is a success, unless a
  /// pipeline was halted.
  ///
  /// - Throws: `CommandEnd`, and the error that prevented an output from being written.
  func finish(withoutMoment progress: RecordingProgress) throws {
    for text in (progress.notes ?? []).dropFirst(noted.withLock { $0 }) {
      warn("note: \(visible(text))")
    }
    endNotes()
    line.finish()
    outputs?.discard()
    if let commits = commits.take() {
      commits.add(try Console.jsonText(progress, isPretty: false) + "\n")
      _ = try commits.finish()
    } else {
      say(RecordError.noMoment(path: "", progress).message)
    }
    if let halt = progress.pipeline?.halt {
      Console.note("error: the pipeline was halted: \(halt)")
      throw CommandEnd(status: .error)
    }
    try checkShadow(progress)
    if Interruption.isRequested { throw CommandEnd(status: .interrupted) }
  }

  /// Writes the line that ends the result lines. The pipe to their reader may be full, so this line
  /// may wait for the reader.
  private func addLast(_ line: String) throws {
    let stream = try LineStream(to: ProcessContext.current.output, name: ReplayError.standardOutput)
    stream.add(line + "\n")
    _ = try stream.finish {
      output.note("waiting for the reader of the result lines; Ctrl-C ends that")
    }
  }

  private func show(
    _ result: RecordingResult, _ lines: RecordingLines, _ preview: PreviewSummary?
  ) throws {
    if isFollowed {
      let summary = RecordingSummary(progress: result.progress, lines: lines, preview: preview)
      let line = JSONValue.object(["summary": try JSONValue(encoding: summary)])
      return try addLast(line.canonicalText)
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
    if let shadow = result.progress.shadow { say(RecordingText.shadow(shadow)) }
    if let preview { say(preview.text) }
  }

  private func say(_ text: String) {
    if leavesStandardOutput { Console.result(text) } else { output.note(text) }
  }

  /// Whether the result lines could not be written; a summary cannot be written to that stream
  /// either.
  private static func isUnwritable(_ failure: (any Error)?) -> Bool {
    guard case .unwritable(.results, _, _)? = failure as? ReplayError else { return false }
    return true
  }

  /// - Parameter check: Throws the error that prevented an output from being written.
  private func end(_ result: RecordingResult, check: () throws -> Void) throws {
    // Before the outputs: a loss in the recording is worse than a line that was not written.
    if let failure = result.failure {
      Console.error(failure)
      throw CommandEnd(status: .error)
    }
    do {
      try check()
    } catch let error as any CodedError {
      Console.error(error)
      noteSession(result)
      throw CommandEnd(status: ErrorStatus.of(error))
    }
    if Console.lostOutput != nil { noteSession(result) }
    switch result.pipeline {
    case .failure(let error)?: throw error
    case .success(let outcome)?:
      guard let halt = outcome.halt else { break }
      Console.note("error: the pipeline was halted: \(halt)")
      throw CommandEnd(status: .error)
    case nil: break
    }
    try checkShadow(result.progress)
    // A signal that comes when the recording has ended by itself did not interrupt it.
    if result.end == .stopped, Interruption.isRequested {
      throw CommandEnd(status: .interrupted)
    }
  }

  /// - Throws: `CommandEnd` if the shadow pipeline did not compute to the end.
  private func checkShadow(_ progress: RecordingProgress) throws {
    guard let shadow = progress.shadow, let end = RecordingText.end(of: shadow) else { return }
    Console.note("error: the shadow pipeline \(end)")
    throw CommandEnd(status: .error)
  }

  /// Notes the state of the session, because the error of an output does not show it.
  private func noteSession(_ result: RecordingResult) {
    if let text = RecordingText.kept(result) { Console.note(text) }
  }
}

/// The last line of `record --follow`: the last commit, and the counts of lines and preview.
struct RecordingSummary: Encodable {
  var progress: RecordingProgress
  var lines: RecordingLines
  var preview: PreviewSummary?

  private enum CodingKeys: String, CodingKey {
    case lines, metadata, preview
  }

  func encode(to encoder: any Encoder) throws {
    // Both encode into one object, so a summary has the keys of a commit and its own.
    try progress.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodeIfPresent(lines.lines, forKey: .lines)
    try container.encodeIfPresent(lines.metadata, forKey: .metadata)
    try container.encodeIfPresent(preview, forKey: .preview)
  }
}
