import RetakeCore
import RetakeMedia
import RetakeSession
import RetakeStore

/// An error of a recording.
///
/// Errors of the media, the session and the database keep their own codes.
public enum RecordError: CodedError {
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
  /// A ring begins with a key frame, and tracks have key frames at different times.
  case ringWithTracks
  /// The source failed; the frames before that are in the session.
  case sourceLost(source: String, cause: String)
  /// Less than the reserve is free; a running recording was closed in time.
  case diskReserve(path: String, freeBytes: Int64, reserveBytes: Int64)
  /// The media could not be written, and a new segment would fail too.
  case writeFailed(file: String, step: String, cause: String)
  case encoderFailed(preset: String, cause: String)
  /// Another program locked the session's database until the queue of waiting rows was full. The
  /// media that was written is kept.
  case databaseHeld(path: String, by: String?)
  /// The ring's bytes hold less than the requested time.
  case ringTooSmall(seconds: Double, neededBytes: Int64, bytesMax: Int64)
  case layer(code: String, message: String, cause: String?, place: Place?, advice: String?)

  /// An error of another module, passed through unchanged.
  init(passing error: any Error) {
    switch error {
    case let error as RecordError: self = error
    case let error as any CodedError:
      self = .layer(
        code: error.code, message: error.message, cause: error.cause, place: error.place,
        advice: error.advice)
    default:
      self = .layer(
        code: "record.failed", message: "the recording failed", cause: "\(error)", place: nil,
        advice: nil)
    }
  }

  public var code: String {
    switch self {
    case .noTrack: "record.source.noTrack"
    case .unknownPreset: "record.preset.unknown"
    case .notCopyable: "record.preset.copy"
    case .presetFormat: "record.preset.format"
    case .tooSlow: "record.encoder.tooSlow"
    case .nameTaken: "record.name.taken"
    case .busy: "record.session.busy"
    case .noFrames: "record.source.noFrames"
    case .stoppedBefore: "record.stopped"
    case .notTriggered: "record.ring.notTriggered"
    case .ringWithPipeline: "record.ring.pipeline"
    case .ringWithTracks: "record.ring.tracks"
    case .sourceLost: "record.source.lost"
    case .diskReserve: "record.disk.reserve"
    case .writeFailed: "record.disk.write"
    case .encoderFailed: "record.encoder.failed"
    case .databaseHeld: "record.database.held"
    case .ringTooSmall: "record.ring.tooSmall"
    case .layer(let code, _, _, _, _): code
    }
  }

  public var message: String {
    switch self {
    case .noTrack(_, let track):
      track.map { "the source has no track \($0) with frames" } ?? "the source has no frames"
    case .unknownPreset(let name, let known, _):
      "there is no preset '\(name)'; there are \(known.joined(separator: ", "))"
    case .notCopyable: "this source cannot be recorded with the preset copy"
    case .presetFormat(let preset, let format): "\(preset) cannot record frames of \(format)"
    case .tooSlow(let preset, let measured, let needed):
      "\(preset) encodes \(Self.rate(measured)) frames a second here, "
        + "and the source gives \(Self.rate(needed))"
    case .nameTaken: "a session of this name exists already"
    case .busy(_, let holder):
      "another recorder writes to this session" + (holder.map { ": \($0)" } ?? "")
    case .databaseHeld(_, let holder):
      "the session's database was held by \(holder ?? "another program") for too long"
    case .noFrames: "the source gave no frame"
    case .stoppedBefore: "the recording was ended before its first frame; nothing was written"
    case .ringTooSmall(let seconds, let needed, let bytesMax):
      "a ring of \(Self.rate(seconds)) s takes about \(needed >> 20) MiB of memory with this source, "
        + "and has \(bytesMax >> 20) MiB"
    case .notTriggered: "the recording ended before it was triggered, so nothing was written"
    case .ringWithPipeline:
      "a ring forgets what came early, and a pipeline's run cannot be replayed without it"
    case .ringWithTracks: "a ring keeps one track, and this source has several"
    case .sourceLost: "the source was lost; what it gave before is kept"
    case .diskReserve(_, let free, let reserve):
      "the disk has \(free >> 20) MiB left, less than the reserve of \(reserve >> 20) MiB"
    case .writeFailed(_, let step, _): "the media could not be written (\(step))"
    case .encoderFailed(let preset, _): "\(preset) failed several times in a row"
    case .layer(_, let message, _, _, _): message
    }
  }

  public var cause: String? {
    switch self {
    case .noFrames(_, let cause): cause
    case .sourceLost(_, let cause), .notCopyable(_, let cause), .writeFailed(_, _, let cause),
      .encoderFailed(_, let cause):
      cause
    case .layer(_, _, let cause, _, _): cause
    default: nil
    }
  }

  public var place: Place? {
    switch self {
    case .noTrack(let source, _), .noFrames(let source, _), .stoppedBefore(let source),
      .sourceLost(let source, _), .notCopyable(let source, _):
      Place(file: source)
    case .nameTaken(let path), .busy(let path, _), .databaseHeld(let path, _),
      .notTriggered(let path),
      .diskReserve(let path, _, _),
      .writeFailed(let path, _, _):
      Place(file: path)
    case .layer(_, _, _, let place, _): place
    case .unknownPreset, .presetFormat, .tooSlow, .encoderFailed,
      .ringWithPipeline, .ringWithTracks, .ringTooSmall:
      nil
    }
  }

  public var advice: String? {
    switch self {
    case .noTrack: "Choose another track with --track"
    case .unknownPreset(_, _, let suggestion):
      suggestion.map { "Did you mean --preset \($0)?" } ?? "Choose one of them with --preset"
    case .notCopyable:
      "Encode it: leave out --preset, or --preset ffv1 for every pixel; a file's own packets are "
        + "kept by: retake import FILE"
    case .presetFormat: "Choose another preset, such as --preset ffv1"
    case .tooSlow: "Choose a faster preset, such as --preset mjpeg, or a smaller picture"
    case .nameTaken: "Choose another name with --name, or remove that folder"
    case .busy: "Wait until that recording has ended, or choose another name with --name"
    case .noFrames: "Check that the source gives frames"
    case .notTriggered: "Send SIGUSR1 to the recorder to have the ring written: kill -USR1 PID"
    case .ringWithPipeline:
      "Leave out --ring, or leave out --pipeline and replay the session through it later"
    case .ringWithTracks: "Choose one track with --track, or leave out --ring"
    case .sourceLost: "Look at what was kept with: retake session info SESSION"
    // Such a reserve was chosen with an option, so the advice is about the option and not the disk.
    case .diskReserve(_, let free, let reserve) where reserve > Self.reserveStandard:
      "The disk has less than that: choose a reserve below \(free >> 20)MiB with --reserve"
    case .diskReserve: "Free some space, or record to another disk with --into"
    case .writeFailed: "Check the disk, then look at what was kept: retake session doctor SESSION"
    case .encoderFailed: "Choose another preset with --preset"
    case .databaseHeld(let path, _):
      // The error's path is the database's, and the command takes the session's folder.
      "End that program, then: retake session recover "
        + "\(path.replacing("/session.sqlite", with: "")) --from-media"
    case .stoppedBefore: nil
    case .ringTooSmall:
      "Give it more with --ring-memory, ask for a shorter --ring, or choose another --preset"
    case .layer(_, _, _, _, let advice): advice
    }
  }

  private static let reserveStandard = RecorderOptions().reserveBytes

  /// - Parameter isStopped: Whether the recording was stopped, so that the source may be fine.
  static func noFrames(
    source: String, isStopped: Bool, cause: String? = nil
  ) -> RecordError {
    isStopped ? .stoppedBefore(source: source) : .noFrames(source: source, cause: cause)
  }

  private static func rate(_ value: Double) -> String {
    let tenths = (value * 10).rounded()
    return "\(tenths / 10)"
  }
}
