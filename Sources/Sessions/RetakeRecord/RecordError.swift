public import RetakeCore
import RetakeSession
import RetakeStore

/// An error of a recording.
///
/// Errors of the media, the session and the database keep their own codes.
public enum RecordError: RetakeError {
  case noTrack(source: String, track: Int?)
  case unknownPreset(name: String, known: [String], suggestion: String?)
  /// The source's packets cannot be stored unchanged.
  case notCopyable(source: String, cause: String)
  case presetFormat(preset: String, format: String)
  /// The measured encoder is slower than the source.
  case tooSlow(preset: String, measured: Double, needed: Double)
  case nameTaken(path: String)
  /// Another recorder has the session open. `by` describes it, if the system reports it.
  case busy(path: String, by: String?)
  /// The cause is the last error that the source reported, if any.
  case noFrames(source: String, cause: String?)
  /// The recording was stopped before its first frame.
  case stoppedBefore(source: String)
  /// The pre-trigger ring was never written, so there is no session.
  case notTriggered(path: String)
  /// A ring discards early frames, and a live run cannot be replayed without them.
  case ringWithPipeline
  /// A shadow pipeline needs a pipeline to compare with, and a ring.
  case shadowAlone
  /// The pipelines never disagreed enough, so there is no session. The progress has the counts.
  case noMoment(path: String, RecordingProgress)
  /// A ring begins with a key frame, and tracks have key frames at different times.
  case ringWithTracks
  /// Sensor samples would stay in the session without the frames that the ring drops.
  case ringWithSensors
  /// A stage of the pipeline reads a sensor that the app did not add.
  case noSensor(node: String, sensor: String, known: [String])
  /// The source failed; the frames before that are in the session.
  case sourceLost(source: String, cause: String)
  /// Less than the reserve is free; a running recording was closed in time.
  case diskReserve(path: String, freeBytes: Int64, reserveBytes: Int64)
  /// The media could not be written, and a new segment would fail too.
  case writeFailed(file: String, step: String, cause: String)
  /// Files of the media no longer have their names, or others have them.
  case mediaChanged(files: [String])
  /// The session's folder no longer has its name.
  case folderMoved(path: String)
  case encoderFailed(preset: String, cause: String)
  /// Another program locked the session's database until the queue of waiting rows was full. The
  /// media that was written is kept.
  case databaseHeld(path: String, by: String?)
  /// A session cannot have more segments; the recording was closed.
  case tooManySegments(path: String, segmentsMax: Int)
  /// The ring's bytes hold less than the requested time.
  case ringTooSmall(seconds: Double, neededBytes: Int64, bytesMax: Int64)

  package var facts: ErrorFacts {
    switch self {
    case .noTrack(let source, let track):
      ErrorFacts(
        "record.source.noTrack",
        track.map { "the source has no track \($0) with frames" } ?? "the source has no frames",
        at: source, advice: "Choose another track with --track")
    case .unknownPreset(let name, let known, let suggestion):
      ErrorFacts(
        "record.preset.unknown",
        "there is no preset '\(name)'; there are \(known.joined(separator: ", "))",
        advice: suggestion.map { "Did you mean --preset \($0)?" }
          ?? "Choose one of them with --preset",
        kind: .usage)
    case .notCopyable(let source, let cause):
      ErrorFacts(
        "record.preset.copy", "this source cannot be recorded with the preset copy", cause: cause,
        at: source,
        advice: "Encode it: leave out --preset, or --preset ffv1 for every pixel; "
          + "a file's own packets are kept by: retake import FILE")
    case .presetFormat(let preset, let format):
      ErrorFacts(
        "record.preset.format", "\(preset) cannot record frames of \(format)",
        advice: "Choose another preset, such as --preset ffv1")
    case .tooSlow(let preset, let measured, let needed):
      ErrorFacts(
        "record.encoder.tooSlow",
        "\(preset) encodes \(Self.rate(measured)) frames a second here, "
          + "and the source delivers \(Self.rate(needed))",
        advice: "Choose a faster preset, such as --preset mjpeg, or a smaller image")
    case .nameTaken(let path):
      ErrorFacts(
        "record.name.taken", "a session of this name exists already", at: path,
        advice: "Choose another name with --name, or remove that folder")
    case .busy(let path, let holder):
      ErrorFacts(
        "record.session.busy",
        "another recorder writes to this session" + (holder.map { ": \($0)" } ?? ""), at: path,
        advice: "Wait until that recording has ended, or choose another name with --name")
    case .noFrames(let source, let cause):
      ErrorFacts(
        "record.source.noFrames", "the source delivered no frame", cause: cause, at: source,
        advice: "Check that the source delivers frames")
    case .stoppedBefore(let source):
      ErrorFacts(
        "record.stopped", "the recording was ended before its first frame; nothing was written",
        at: source)
    case .notTriggered(let path):
      ErrorFacts(
        "record.ring.notTriggered",
        "the recording ended before it was triggered, so nothing was written", at: path,
        advice: "Send SIGUSR1 to the recorder to have the ring written: kill -USR1 PID")
    case .ringWithPipeline:
      ErrorFacts(
        "record.ring.pipeline",
        "a ring drops early frames, and a pipeline's run cannot be replayed without them",
        advice:
          "Leave out --pre-trigger, or leave out --pipeline and replay the session through it "
          + "later; with --shadow a ring keeps the moments at which two pipelines disagree",
        kind: .usage)
    case .shadowAlone:
      ErrorFacts(
        "record.shadow.alone",
        "a shadow pipeline is compared with another pipeline, and a ring keeps the moments",
        advice: "Add --pipeline OLD and --pre-trigger 5s", kind: .usage)
    case .noMoment(let path, let progress):
      ErrorFacts(
        "record.shadow.noMoment",
        "no moment was kept, so nothing was written: "
          + (progress.shadow ?? ShadowProgress()).text, at: path)
    case .ringWithTracks:
      ErrorFacts(
        "record.ring.tracks", "a ring keeps one track, and this source has several",
        advice: "Choose one track with --track, or leave out --pre-trigger", kind: .usage)
    case .ringWithSensors:
      ErrorFacts(
        "record.ring.sensors", "a ring keeps frames, and no sensors",
        advice: "Record without a ring, or without sensors", kind: .usage)
    case .noSensor(let node, let sensor, let known):
      ErrorFacts(
        "record.sensor.unknown",
        "the stage '\(node)' reads the sensor '\(sensor)', which the recorder does not have",
        advice: known.isEmpty
          ? "Add it before run(): recorder.addSensor(\"\(sensor)\", channels: …)"
          : Suggestion.advice(for: sensor, among: known))
    case .sourceLost(let source, let cause):
      ErrorFacts(
        "record.source.lost", "the source was lost; the recording up to that point is kept",
        cause: cause, at: source, advice: "Look at the recording: retake session info SESSION")
    case .diskReserve(let path, let free, let reserve):
      ErrorFacts(
        "record.disk.reserve",
        "the disk has \(Self.size(free, below: reserve)) left, less than the \(ByteText.limit(reserve)) to "
          + "keep free",
        at: path,
        // A larger reserve was chosen with an option, so the advice is about that and not the disk.
        advice: reserve > RecorderOptions().reserveBytes
          ? "The disk has less than that: choose less than \(free / 1_000_000)MB with --min-free"
          : "Free some space, or record to another disk with --into")
    case .writeFailed(let file, _, let cause):
      ErrorFacts(
        "record.disk.write", "the media could not be written", cause: cause, at: file,
        advice: "Check the disk, then the recording: retake session check "
          + SessionError.session(ofMedia: file).shellWord)
    case .mediaChanged(let files):
      ErrorFacts(
        "record.media.changed",
        "\(counted(files.count, "media file was", "media files were")) removed or replaced during "
          + "the recording; frames are lost",
        cause: files.prefix(Self.filesMax).joined(separator: ", ")
          + (files.count > Self.filesMax ? ", …" : ""),
        at: files.first,
        advice: "Find the lost frames: retake session check "
          + SessionError.session(ofMedia: files.first ?? "").shellWord)
    case .folderMoved(let path):
      ErrorFacts(
        "record.session.moved",
        "the session's folder was moved or removed during the recording", at: path,
        advice: "If it was moved, close it where it is now: retake session recover FOLDER")
    case .encoderFailed(let preset, let cause):
      ErrorFacts(
        "record.encoder.failed", "\(preset) failed several times in a row", cause: cause,
        advice: "Choose another preset with --preset")
    case .databaseHeld(let path, let holder):
      ErrorFacts(
        "record.database.held",
        "the session's database was held by \(holder ?? "another program") for too long",
        at: path,
        // The error's path is the database's path, and the command needs the session's folder.
        advice: "End that program, then: retake session recover "
          + "\(path.replacing("/session.sqlite", with: "")) --from-media")
    case .tooManySegments(let path, let most):
      ErrorFacts(
        "record.segments.tooMany",
        "the recording has \(most) segments, the most that a session has; it was closed", at: path,
        advice: "Choose longer segments with --segment, and a source that keeps its frame size")
    case .ringTooSmall(let seconds, let needed, let bytesMax):
      ErrorFacts(
        "record.ring.tooSmall",
        "a ring of \(Self.rate(seconds)) s needs about \(ByteText.of(needed)) of memory with this "
          + "source; its limit is \(ByteText.limit(bytesMax))",
        advice:
          "Raise --pre-trigger-memory, shorten --pre-trigger, or choose another --preset")
    }
  }

  /// - Parameter isStopped: Whether the recording was stopped, so that the source may be fine.
  static func noFrames(
    source: String, isStopped: Bool, cause: String? = nil
  ) -> RecordError {
    isStopped ? .stoppedBefore(source: source) : .noFrames(source: source, cause: cause)
  }

  /// Exact where a rounded size would be the limit's.
  private static func size(_ bytes: Int64, below limit: Int64) -> String {
    let text = ByteText.of(bytes)
    return text == ByteText.of(limit) ? counted(bytes, "byte") : text
  }

  /// Maximum number of files that an error names.
  private static let filesMax = 3

  private static func rate(_ value: Double) -> String {
    let tenths = (value * 10).rounded()
    return "\(tenths / 10)"
  }

  /// The stable identifier of the error, such as `record.segments.tooMany`.
  public var code: String { facts.code }
  /// The problem, in one sentence.
  public var message: String { facts.message }
  /// The message of FFmpeg, SQLite or the system, if there is one.
  public var cause: String? { facts.cause }
  /// The session, file or frame with the problem; `nil` if there is no such place.
  public var place: Place? { facts.place }
  /// The next step for the user; `nil` if there is no general advice.
  public var advice: String? { facts.advice }
}

extension CodedError {
  /// The error with the command that closes the session, if the error left its database open.
  func leavingOpen(_ folder: SessionFolder) -> any CodedError {
    guard let error = self as? StoreError else { return self }
    if case .busy = error { return self }
    var facts = error.facts
    var first = "Check the disk and the folder's permissions"
    if case .diskFull = error { first = "Free some space on the disk" }
    facts.advice =
      "\(first), then close the session: retake session recover "
      + folder.path.shellWord
    return facts
  }
}

extension Error {
  /// The error itself, or `record.failed` for an error without a code.
  var coded: any CodedError {
    self as? any CodedError
      ?? ErrorFacts("record.failed", "the recording failed", cause: "\(self)")
  }
}
