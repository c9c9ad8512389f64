import Retake

/// The messages of a recording for people.
enum RecordingText {
  /// `recording  29.9/s  1200 frames  without pixels: 3 record.shed.disk  412 min left`
  static func line(_ progress: RecordingProgress) -> String {
    var parts = ["recording"]
    if let rate = progress.rate { parts.append("\(tenths(rate.framesPerSecond))/s") }
    parts.append(counted(progress.frames.captured, "frame"))
    if let missing = missing(progress.frames.missing) { parts.append(missing) }
    if let pipeline = progress.pipeline { parts.append(brief(pipeline)) }
    if let holder = progress.databaseHolder { parts.append("the database is held by \(holder)") }
    if let minutes = progress.rate?.minutesLeft { parts.append(left(minutes)) }
    return parts.joined(separator: "  ")
  }

  /// The result: `yard  clean  300 of 300 frames recorded  Recordings/yard`, and its tracks.
  static func result(_ result: RecordingResult) -> [String] {
    let frames = result.progress.frames
    let line =
      "\(result.folder.name)  \(result.status.rawValue)  \(frames.recorded) of "
      + "\(counted(frames.captured, "frame")) recorded"
      + (missing(frames.missing).map { "  \($0)" } ?? "")
      + (result.progress.unwritten.map { "  \(counted($0, "more frame")) could not be indexed" }
        ?? "")
      + "  \(result.folder.path)"
    return [line] + tracks(result.progress)
  }

  static func tight(_ probe: EncoderProbe.Measurement) -> String {
    "warning: the encoder makes \(Int(probe.framesPerSecond)) frames a second, "
      + "\(Int(probe.needed ?? 0)) are needed: frames may be shed. Try --preset mjpeg"
  }

  static let endless =
    "note: recording until Ctrl-C, or until the source ends; "
    + "--duration 10s or --frames 300 sets an end"

  static let shortRing =
    "warning: the pre-trigger memory is full: it keeps a shorter time than requested "
    + "(--pre-trigger-memory)"

  /// A warning, printed once for each program that locks the database.
  static func held(by holder: String) -> String {
    "warning: the session's database is held by \(holder): frames are recorded, but not indexed yet"
  }

  static func source(_ change: SourceChange) -> String {
    switch change {
    case .silent: "warning: no frames arrive from the source; the recording waits for it"
    case .gone(let cause):
      "warning: the connection to the source ended (\(visible(cause))); the recording connects "
        + "again"
    case .back(let gap): "note: the source is back after \(gap.roundedText)"
    }
  }

  /// The pipeline was halted while the recording continues.
  static func halted(_ failure: StageFailure, next command: String) -> String {
    "error: the pipeline was halted: \(failure)\n"
      + "  The recording continues without it, and Ctrl-C ends it. Then run the stage again on the "
      + "recorded frames: \(command)"
  }

  /// The shadow pipeline was halted while the recording continues.
  static func shadowHalted(_ failure: StageFailure) -> String {
    "error: the shadow pipeline was halted: \(failure)\n"
      + "  The recording continues, and no later frame is compared. Ctrl-C ends it"
  }

  /// Why the shadow pipeline ended early; `nil` if it did not.
  static func end(of shadow: ShadowProgress) -> String? {
    shadow.pipeline?.halt.map { "was halted: \($0)" } ?? shadow.failure.map { "failed: \($0)" }
  }

  /// The command that runs a live pipeline again on a session.
  static func replay(_ session: String, pipeline: String) -> String {
    "retake replay \(session.shellWord) --pipeline \(pipeline.shellWord)"
  }

  /// The state of the session, for the message about an output that failed; `nil` if the session
  /// was not closed.
  static func kept(_ result: RecordingResult) -> String? {
    guard result.isClosed else { return nil }
    let frames = result.progress.frames
    return "  The session is closed and \(result.status.rawValue): \(frames.recorded) of "
      + "\(counted(frames.captured, "frame")) recorded, in \(result.folder.path)"
  }

  /// `pipeline 1170 delivered, 28 dropped (queue), 2 lost before capture`
  private static func brief(_ pipeline: PipelineProgress) -> String {
    let frames = pipeline.frames
    var parts = ["\(frames.delivered) delivered"] + FrameLedger.drops(frames.dropped)
    if pipeline.dropped > 0 { parts.append("\(pipeline.dropped) lost before capture") }
    if frames.failed > 0 { parts.append("\(frames.failed) failed") }
    return "pipeline " + parts.joined(separator: ", ")
  }

  /// The fates of all frames in the pipeline, after its end: `  pipeline  300 produced, 298
  /// accepted, 2 lost before capture; 260 delivered, 38 dropped (queue); 298 results`
  static func pipeline(_ pipeline: PipelineProgress) -> String {
    var lines = [
      "  pipeline  "
        + source(pipeline.produced, pipeline.accepted, pipeline.dropped)
        + "; \(pipeline.frames.fates.joined(separator: ", ")); "
        + "\(counted(pipeline.results, "result"))"
    ]
    if pipeline.tracks.count > 1 {
      lines += pipeline.tracks.map {
        "    track \($0.track)  " + source($0.produced, $0.accepted, $0.dropped)
      }
    }
    lines += (pipeline.stages ?? []).map { stage in
      "    stage \(visible(stage.node))  "
        + FrameLedger.drops(stage.dropped).joined(separator: ", ")
    }
    lines += (pipeline.pools ?? []).map { "  pool      \(SummaryText.pool($0))" }
    return lines.joined(separator: "\n") + SummaryText.waits(pipeline.waits)
  }

  /// The kept moments, and the shadow pipeline: `  moments   1 kept; 900 frames compared, …`
  static func shadow(_ shadow: ShadowProgress) -> String {
    var lines = ["  moments   \(shadow.momentCount) kept; \(shadow.text)"]
    lines += shadow.moments.map {
      "    frame \($0.frame)  disagreement \(FixedPoint.text(Int(($0.disagreement * 100).rounded()), digits: 2)) "
        + "in \(counted($0.frames, "frame"))"
    }
    if let pipeline = shadow.pipeline {
      lines.append(
        "  shadow    " + source(pipeline.produced, pipeline.accepted, pipeline.dropped)
          + "; \(pipeline.frames.fates.joined(separator: ", "))")
    }
    if let end = end(of: shadow) { lines.append("    \(visible(end))") }
    return lines.joined(separator: "\n")
  }

  private static func source(_ produced: Int, _ accepted: Int, _ dropped: Int) -> String {
    "\(produced) produced, \(accepted) accepted, \(dropped) lost before capture"
  }

  /// One line per track if there are several: `  track 1  90 of 90 frames recorded`
  private static func tracks(_ progress: RecordingProgress) -> [String] {
    (progress.tracks ?? []).map { track in
      "  track \(track.track)  \(track.frames.recorded) of "
        + "\(counted(track.frames.captured, "frame")) "
        + "recorded" + (missing(track.frames.missing).map { "  \($0)" } ?? "")
    }
  }

  /// `without pixels: 3 record.shed.disk`; `nil` if every frame has pixels.
  private static func missing(_ counts: [String: Int]) -> String? {
    guard !counts.isEmpty else { return nil }
    // Sorted: the order of a Dictionary would change from process to process.
    let causes = counts.keys.sorted().map { "\(counts[$0] ?? 0) \($0)" }
    return "without pixels: \(causes.joined(separator: ", "))"
  }

  private static func left(_ minutes: Int) -> String {
    switch minutes {
    case ..<600: "\(minutes) min left"
    case ..<14_400: "\(minutes / 60) h left"
    default: "\(minutes / 1_440) days left"
    }
  }

  private static func tenths(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
}
