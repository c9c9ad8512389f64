import RetakeCore
package import RetakeRecord
package import RetakeReplay
import RetakeRuntime
import RetakeSession

/// Writes the outputs of a recording's pipeline: its result lines while it runs, and a trace when
/// the recording has ended. No thread of the recorder waits for a reader or for a disk.
package final class RecordingOutputs {
  private let live: LivePipeline
  private let note: @Sendable (String) -> Void
  private var streams: [ResultStream] = []
  private var trace: WholeFile?

  /// Opens the files, before anything is recorded.
  ///
  /// - Parameters:
  ///   - wanted: Result lines, metadata and the trace; a recording has no other outputs.
  ///   - waitingBytesMax: The most bytes of lines that wait for one reader.
  ///   - note: Called with a problem of a reader or a file, from any thread.
  /// - Throws: `SuiteError`, `ReplayError.unwritable`; in that case no file remains.
  package init(
    _ wanted: RunOutputs, of live: LivePipeline,
    waitingBytesMax: Int = LineStream.waitingBytesMax, note: @escaping @Sendable (String) -> Void
  ) throws {
    self.live = live
    self.note = note
    try wanted.check()
    do {
      try open(wanted, waitingBytesMax: waitingBytesMax)
    } catch {
      discard()
      throw error
    }
  }

  private func open(_ wanted: RunOutputs, waitingBytesMax: Int) throws {
    for metadata in wanted.metadata {
      let sink = try live.pipeline.metadataSink(named: metadata.sink)
      let file = try RunOutputs.file(metadata.path, .metadata)
      streams.append(
        try ResultStream(
          file, of: live, sink: sink, path: metadata.path, waitingBytesMax: waitingBytesMax,
          note: note))
    }
    if wanted.follows {
      let file = try RunOutputs.file("-", .results)
      streams.append(
        try ResultStream(
          file, of: live, sink: nil, path: "-", waitingBytesMax: waitingBytesMax, note: note))
    }
    trace = try wanted.trace.map { try RunOutputs.file($0, .trace) }
  }

  /// Receives the results; `nil` if no lines are wanted.
  package var watch: RecordingWatch? {
    guard !streams.isEmpty else { return nil }
    return RecordingWatch(
      captured: { _ in },
      // Captures the list and not this object, because another thread calls it.
      found: { [streams] result in for stream in streams { stream.add(result) } })
  }

  /// Waits until readers have read the waiting lines, and writes the trace of the recording.
  ///
  /// - Parameter progress: Called from time to time with the number of decisions in the trace.
  /// - Returns: The counts of the lines, also if an output failed, and the first error:
  ///   `ReplayError`, or an error of the session. After an error, the other outputs are still
  ///   written.
  package func finish(
    _ result: RecordingResult, progress: (Int) -> Void = { _ in }
  ) -> (lines: RecordingLines, failure: (any Error)?) {
    defer { discard() }
    var lines = RecordingLines()
    var failure: (any Error)?
    while let stream = streams.first {
      // Taken out before it ends: `discard`, which follows in any case, must not end it again.
      streams.removeFirst()
      do {
        try stream.finish()
      } catch {
        failure = failure ?? error
      }
      lines.add(stream.counts, of: stream)
    }
    if let file = trace.take() {
      do {
        try write(file, result, progress: progress)
      } catch {
        file.discard()
        failure = failure ?? error
      }
    }
    return (lines, failure)
  }

  /// Removes all unfinished files.
  package func discard() {
    for stream in streams { stream.discard() }
    streams = []
    trace?.discard()
    trace = nil
  }

  /// The decisions are stored in the session. When they are made again, without the values, they
  /// also show which buffers were leased.
  private func write(
    _ file: WholeFile, _ result: RecordingResult, progress: (Int) -> Void
  ) throws {
    // The result contains the reason why the pipeline did not run.
    guard case .success? = result.pipeline else { return file.discard() }
    guard result.isClosed else {
      file.discard()
      return note(
        "warning: there is no trace: the session is not closed; type: "
          + "retake session recover \(result.folder.path.shellWord)")
    }
    // No workers, because no value is computed.
    let reproduction = try Reproduction(
      try SessionReader(opening: result.folder.path), pipeline: live.pipeline,
      registry: live.registry, workers: 0)
    let observer = try TraceObserver(file, of: reproduction, session: result.folder.name)
    let report = try reproduction.run(observer: observer, values: .leftOut, progress: progress)
    try observer.finish()
    if let loss = observer.loss { note("warning: \(loss.message); the trace is incomplete") }
    guard let divergence = report.divergence else { return }
    note(
      "warning: the trace ends at decision \(divergence.decision), which could not be reproduced; "
        + "type: retake replay \(result.folder.path.shellWord) --mode reproduce")
  }
}

/// The counts of a recording's result lines.
package struct RecordingLines: Hashable, Sendable, Codable {
  package struct Metadata: Hashable, Sendable, Codable {
    package var sink: String
    package var file: String
    package var written: Int
    package var dropped: Int
  }

  /// For `--follow`.
  package var lines: LineCounts?
  /// For `--metadata`, by file.
  package var metadata: [Metadata]?

  package init() {}

  fileprivate mutating func add(_ counts: LineCounts, of stream: ResultStream) {
    guard let sink = stream.sink else { return lines = counts }
    let entry = Metadata(
      sink: sink, file: stream.path, written: counts.written, dropped: counts.dropped)
    metadata = (metadata ?? []) + [entry]
  }
}

/// The result lines of one stream.
private final class ResultStream: @unchecked Sendable {
  // @unchecked: only the thread that calls the sinks of a pipeline uses the writer.
  private var writer: LiveFrameLines
  private let lines: LineStream
  private let note: @Sendable (String) -> Void
  let sink: String?
  let path: String

  /// - Parameter sink: The only sink whose outcomes are written; `nil` means all sinks.
  init(
    _ file: WholeFile, of live: LivePipeline, sink: String?, path: String, waitingBytesMax: Int,
    note: @escaping @Sendable (String) -> Void
  ) throws {
    do {
      writer = try LiveFrameLines(live.pipeline, sink: sink)
      lines = try LineStream(file, waitingBytesMax: waitingBytesMax) { error in
        note("warning: \(error.lossText); the recording continues")
      }
    } catch {
      file.discard()
      throw error
    }
    (self.note, self.sink, self.path) = (note, sink, path)
  }

  func add(_ result: LiveResult) { lines.add(writer.line(of: result)) }

  var counts: LineCounts { lines.counts }

  func finish() throws {
    let counts = try lines.finish {
      note("waiting for the reader of \(path == "-" ? "the result lines" : path); Ctrl-C ends that")
    }
    // A reader that left was reported when it left, and its dropped lines follow from that.
    if counts.dropped > 0, !lines.isLost {
      let all = counts.written + counts.dropped
      note(
        "warning: \(counts.dropped) of \(all) result lines were dropped, because their reader was too "
          + "slow; the session has the results of all frames")
    }
  }

  func discard() { lines.discard() }
}
