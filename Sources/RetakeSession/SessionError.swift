import RetakeCore
import RetakeMedia
import RetakeStore

/// An error of a session, or of making one.
///
/// Errors of the database and of the media keep their own codes.
public enum SessionError: CodedError {
  /// The folder is missing, is a file, or contains no session.
  case notSession(path: String, cause: String)
  case unknownTrack(session: String, track: Int, known: [Int])
  case unknownFrame(session: String, frame: FrameID)
  /// The database is missing; the media that it indexes is not.
  case noDatabase(path: String)
  case badName(name: String, suggestion: String?)
  case nameTaken(path: String)
  /// A recorder in another process holds the session's lock. `by` describes it, if the system
  /// reports it.
  case beingRecorded(path: String, by: String?)
  /// The recording was never closed.
  case notClosed(path: String)
  /// A span of time without frames.
  case emptySpan(session: String, durationNanoseconds: Int64)
  /// A trimmed session does not replay like the original.
  case trimDiffers(session: String, frame: FrameID, cause: String)
  /// No lossless encoder supports this pixel format.
  case noLossless(format: String)
  /// A replay copy does not replay like the original.
  case optimiseDiffers(session: String, frame: FrameID, cause: String)
  /// A replay copy would not replay faster.
  case alreadyFast(session: String, codec: String)
  /// A track has no pixels at all.
  case noPictures(session: String, track: Int)
  /// The disk does not have enough space.
  case noRoom(path: String, needBytes: Int64, freeBytes: Int64)
  /// The disk has less space than the file has bytes.
  case noRoomForCopy(path: String, needBytes: Int64, freeBytes: Int64)
  case fileExists(path: String)
  /// The file's extension does not name a known container.
  case unknownContainer(path: String, known: [String])
  /// The container of the file's extension does not support the codec.
  case containerCodec(path: String, codec: String, instead: String)
  /// The exported file does not read back as the session's frames. `form` names codec and
  /// container, `instead` is the command to type.
  case exportDiffers(path: String, form: String, cause: String, instead: String?)
  /// The imported file is not the one that was indexed.
  case originalDiffers(session: String, file: String)
  /// A copy would be inside the session itself.
  case intoItself(path: String)
  /// The folder of the sessions does not exist or cannot be read.
  case noFolder(path: String, cause: String)
  /// The session has no rows of this kind.
  case nothingToExport(session: String, kind: String)
  /// The result of a recovery does not read back as it should.
  case recoveryFailed(path: String, cause: String)
  case noFrames(file: String)
  /// Every frame of the file is damaged; the cause is that of the first one.
  case noGoodFrame(file: String, frames: Int, cause: String?)
  /// The database names a file outside the session's folder.
  case unsafePath(session: String, path: String)
  case mediaMissing(file: String)
  /// The media file's bytes are not those that were indexed.
  case mediaMismatch(file: String, track: Int, packet: Int, frame: FrameID?, cause: String)
  /// The media file has more bytes than were indexed; none of them is read.
  case mediaSize(file: String, bytes: Int64, indexedBytes: Int64)
  /// The packets are intact, but the decoder gives different pixels than at the import.
  case pixelMismatch(session: String, frame: FrameID)
  /// The frame has a row, but no pixels.
  case noPixels(session: String, frame: FrameID, cause: String)
  case undecodable(session: String, frame: FrameID, cause: String)
  /// No stage times of a live run were recorded.
  case noCosts(session: String)
  case unknownRun(session: String, run: Int, known: [Int])
  /// The recorded stage times do not form a valid cost tape.
  case badCosts(session: String, run: Int, detail: String)
  /// No live run was recorded, or not the requested one.
  case noLiveRun(session: String, known: [Int])
  /// A trim keeps a live run's stage times, and not what it decided and why. `original` is the name
  /// of the session that was trimmed, if it is known.
  case trimmedRun(session: String, run: Int, original: String?)
  /// The recorded data of a live run cannot be read.
  case badRun(session: String, run: Int, detail: String)
  /// The user stopped the operation; nothing is left behind.
  case interrupted
  case write(path: String, cause: String)
  case database(code: String, description: ErrorText)
  case media(code: String, description: ErrorText)

  /// An error of another module, passed through unchanged.
  public struct ErrorText: Hashable, Sendable {
    package var message: String
    package var cause: String?
    package var place: Place?
    package var advice: String?

    init(_ error: any CodedError) {
      message = error.message
      cause = error.cause
      place = error.place
      advice = error.advice
    }
  }

  package init(_ error: StoreError) {
    self = .database(code: error.code, description: ErrorText(error))
  }

  /// A media file that could not be opened, with the error that `MediaFile` would throw.
  package init(_ refusal: RegularFile.Refusal, media path: String) {
    switch refusal {
    case .missing: self = .mediaMissing(file: path)
    case .folder: self.init(MediaError.directory(file: path))
    case .link, .special, .tooLarge: self.init(MediaError.special(file: path))
    case .system: self.init(MediaError.unreadable(file: path, cause: refusal.description))
    }
  }

  package init(_ error: MediaError) {
    self = .media(code: error.code, description: ErrorText(error))
  }

  /// Whether there was not enough memory, which says nothing about what was read.
  package var isAboutMemory: Bool {
    // A prefix, because the limit of one decoder (`media.memory.limit`) says
    // as little about the bytes as an allocation that fails.
    code.hasPrefix("media.memory") || code.hasPrefix("store.memory")
  }

  public var code: String {
    switch self {
    case .notSession: "session.open.notSession"
    case .unknownTrack: "session.track.unknown"
    case .unknownFrame: "session.frame.unknown"
    case .noDatabase: "session.open.noDatabase"
    case .badName: "session.name.bad"
    case .nameTaken: "session.name.taken"
    case .beingRecorded: "session.lock.held"
    case .notClosed: "session.open.notClosed"
    case .emptySpan: "session.trim.empty"
    case .trimDiffers: "session.trim.differs"
    case .noLossless: "session.trim.format"
    case .optimiseDiffers: "session.optimise.differs"
    case .alreadyFast: "session.optimise.alreadyFast"
    case .noPictures: "session.optimise.noPictures"
    case .noRoom: "session.optimise.noRoom"
    case .noRoomForCopy: "session.copy.noRoom"
    case .fileExists: "session.export.exists"
    case .unknownContainer: "session.export.container"
    case .containerCodec: "session.export.codec"
    case .exportDiffers: "session.export.differs"
    case .originalDiffers: "session.export.original"
    case .intoItself: "session.copy.intoItself"
    case .noFolder: "session.list.noFolder"
    case .nothingToExport: "session.export.nothing"
    case .recoveryFailed: "session.recover.failed"
    case .noFrames: "session.import.noFrames"
    case .noGoodFrame: "session.import.noGoodFrame"
    case .unsafePath: "session.file.unsafe"
    case .mediaMissing: "session.media.missing"
    case .mediaMismatch, .mediaSize: "session.media.mismatch"
    case .pixelMismatch: "session.pixels.mismatch"
    case .noPixels: "session.frame.noPixels"
    case .undecodable: "session.frame.undecodable"
    case .noCosts: "session.costs.none"
    case .unknownRun: "session.run.unknown"
    case .badCosts: "session.costs.bad"
    case .noLiveRun, .trimmedRun: "session.run.none"
    case .badRun: "session.run.bad"
    case .interrupted: "session.interrupted"
    case .write: "session.write"
    case .database(let code, _), .media(let code, _): code
    }
  }

  public var message: String {
    switch self {
    case .notSession: "this is not a session"
    case .unknownTrack(_, let track, let known):
      "the session has no track \(track); it has \(known.map(String.init).joined(separator: ", "))"
    case .unknownFrame: "the session has no such frame"
    case .noDatabase: "the session's database session.sqlite is missing; its media is there"
    case .badName(let name, _): "'\(name)' cannot be a session's name"
    case .nameTaken: "a session of this name exists already"
    case .beingRecorded(_, let holder):
      "a recorder writes to this session" + (holder.map { ": \($0)" } ?? "")
    case .notClosed: "the recording was never closed"
    case .emptySpan(_, let duration):
      "the session has no frame in that span; it is \(Duration.nanoseconds(duration).unitText) long"
    case .trimDiffers: "the trimmed session does not replay as the original does"
    case .noLossless(let format): "no lossless encoder here takes pictures of \(format)"
    case .optimiseDiffers: "the replay copy does not replay as the original does"
    case .alreadyFast(_, let codec):
      "the session replays as fast as a copy would: its frames are \(codec) already"
    case .noPictures(_, let track): "no frame of track \(track) has pixels"
    case .noRoom(_, let need, let free):
      "the disk has not enough room: about \(need) bytes are needed, \(free) are free"
    case .noRoomForCopy(_, let need, let free):
      "the disk has not enough room for the copy: \(need) bytes are needed, \(free) are free"
    case .fileExists: "there is a file already"
    case .unknownContainer(_, let known):
      "the file's name ends in none of ." + known.joined(separator: ", .")
    case .containerCodec(let path, let codec, _):
      ".\(path.split(separator: ".").last ?? "") files do not hold \(codec)"
    case .exportDiffers(_, let form, _, _):
      "\(form) does not read back as the session's frames; nothing was written"
    case .originalDiffers(_, let file): "\(file) is not the file that was imported"
    case .intoItself: "a session cannot be copied into itself"
    case .noFolder: "there are no sessions here"
    case .nothingToExport(_, let kind): "the session has no \(kind)"
    case .recoveryFailed: "the session could not be recovered"
    case .noFrames: "no frame of the file can be decoded"
    case .noGoodFrame(_, let frames, _):
      frames == 1
        ? "the file's one frame is damaged" : "all \(frames) frames of the file are damaged"
    case .unsafePath(_, let path): "the database names a file outside of the session: '\(path)'"
    case .mediaMissing: "the session's media file is missing"
    case .mediaMismatch(_, let track, let packet, _, _):
      "the media is not what was indexed: track \(track), packet \(packet)"
    case .mediaSize(_, let bytes, let indexed):
      "the media is not what was indexed: the file has \(bytes) bytes, not \(indexed)"
    case .pixelMismatch: "the frame's pixels are not those that were stored"
    case .noPixels: "the frame has no pixels"
    case .undecodable: "the frame cannot be decoded"
    case .noCosts: "the session has no recorded stage times"
    case .unknownRun(_, let run, let known):
      "the session has no stage times of a run \(run); it has those of run "
        + known.map(String.init).joined(separator: ", ")
    case .badCosts(_, let run, let detail): "the stage times of run \(run) are damaged: \(detail)"
    case .noLiveRun: "the session has no such live run"
    case .trimmedRun(_, let run, _): "the session has only stage times of the live run \(run)"
    case .badRun(_, let run, let detail): "the live run \(run) is damaged: \(detail)"
    case .interrupted: "interrupted; nothing was left behind"
    case .write: "the session cannot be written"
    case .database(_, let text), .media(_, let text): text.message
    }
  }

  public var cause: String? {
    switch self {
    case .notSession(_, let cause), .noFolder(_, let cause), .mediaMismatch(_, _, _, _, let cause),
      .noPixels(_, _, let cause), .undecodable(_, _, let cause), .write(_, let cause),
      .recoveryFailed(_, let cause), .trimDiffers(_, _, let cause),
      .optimiseDiffers(_, _, let cause), .exportDiffers(_, _, let cause, _):
      cause
    case .noGoodFrame(_, _, let cause): cause
    case .trimmedRun:
      "it was trimmed, and what a live run decides depends on everything that came before"
    case .database(_, let text), .media(_, let text): text.cause
    default: nil
    }
  }

  public var place: Place? {
    switch self {
    case .notSession(let path, _), .nameTaken(let path), .write(let path, _),
      .beingRecorded(let path, _), .recoveryFailed(let path, _), .noDatabase(let path),
      .notClosed(let path), .fileExists(let path), .unknownContainer(let path, _),
      .intoItself(let path), .noFolder(let path, _), .noRoom(let path, _, _),
      .noRoomForCopy(let path, _, _),
      .containerCodec(let path, _, _), .exportDiffers(let path, _, _, _):
      Place(file: path)
    case .noFrames(let file), .mediaMissing(let file), .noGoodFrame(let file, _, _),
      .mediaSize(let file, _, _):
      Place(file: file)
    case .unknownTrack(let session, _, _), .unsafePath(let session, _), .noCosts(let session),
      .unknownRun(let session, _, _), .badCosts(let session, _, _), .emptySpan(let session, _),
      .noLiveRun(let session, _), .badRun(let session, _, _), .trimmedRun(let session, _, _),
      .nothingToExport(let session, _), .alreadyFast(let session, _),
      .noPictures(let session, _), .originalDiffers(let session, _):
      Place(file: session)
    case .unknownFrame(let session, let frame), .pixelMismatch(let session, let frame),
      .noPixels(let session, let frame, _), .undecodable(let session, let frame, _),
      .trimDiffers(let session, let frame, _), .optimiseDiffers(let session, let frame, _):
      Place(file: session, frame: frame)
    case .mediaMismatch(let file, _, _, let frame, _): Place(file: file, frame: frame)
    case .database(_, let text), .media(_, let text): text.place
    case .badName, .interrupted, .noLossless: nil
    }
  }

  public var advice: String? {
    switch self {
    case .notSession: "List the sessions with: retake session list"
    case .unknownTrack(let session, _, _), .unknownFrame(let session, _):
      "See what it has with: retake session info \(session.shellWord)"
    case .noDatabase(let path):
      "Rebuild it from the media: retake session recover \(path.shellWord) --from-media"
    case .badName(_, let suggestion):
      suggestion.map { "Write: --name \($0)" }
        ?? "Choose letters, digits, '-', '_' and '.', with --name"
    case .nameTaken: "Choose another name with --name, or remove that folder"
    case .noFrames(let file), .noGoodFrame(let file, _, _):
      "Check that the file plays, for instance with: ffplay \(file.shellWord)"
    case .beingRecorded(let path, _):
      "Wait until the recording has ended, or copy what is durable so far: "
        + "retake session snapshot \(path.shellWord) --into DIR"
    case .unknownContainer: "Give the file one of these endings, such as .mkv"
    case .containerCodec(_, _, let instead): "Use another container: \(instead)"
    case .exportDiffers(_, _, _, let instead): instead.map { "Use another container: \($0)" }
    case .originalDiffers(let session, _):
      "See what is damaged with: retake session doctor \(session.shellWord)"
    case .intoItself: "Choose another folder with --into, or another name with --name"
    case .noFolder:
      "Make the first one with: retake import FILE; or say where they are: "
        + "retake session list --from DIR"
    case .recoveryFailed(let path, _):
      "See what is damaged with: retake session doctor \(path.shellWord)"
    case .notClosed(let path): "Close it first: retake session recover \(path.shellWord)"
    case .emptySpan: "Choose another span with --from and --to, counted from the first frame"
    case .alreadyFast: "Use it as it is, or make the copy all the same with --force"
    case .noPictures(let session, _):
      "See what is damaged with: retake session doctor \(session.shellWord)"
    case .noRoom: "Make room, choose another disk with --into, or a smaller copy with --preset h264"
    case .noRoomForCopy: "Make room, or choose another disk"
    case .trimDiffers(let session, _, _), .optimiseDiffers(let session, _, _):
      "See whether the original is whole: retake session doctor \(session.shellWord) --deep"
    case .noLossless: "See what this FFmpeg has with: retake doctor"
    case .fileExists: "Choose another file, or remove that one"
    case .nothingToExport(let session, _):
      "See what it has: retake session info \(session.shellWord)"
    case .unsafePath: "Do not use this session: it was not made by retake"
    case .mediaMissing: "Put the file back, or import it again"
    case .mediaSize: "Put the original media back, or import it again"
    case .mediaMismatch: "See what else is damaged with: retake session doctor SESSION"
    case .pixelMismatch(let session, _):
      "See which frames differ: retake session doctor \(session.shellWord) --deep. If all do, this "
        + "FFmpeg decodes otherwise than the one that made the session: import the media again"
    case .noPixels(let session, _, _), .undecodable(let session, _, _):
      "See what is damaged with: retake session doctor \(session.shellWord) --deep"
    case .noCosts:
      "Measure some: retake replay SESSION --pipeline P --write-tape FILE; then --costs tape:FILE"
    case .unknownRun(_, _, let known): "Choose one: --costs tape@\(known.last ?? 0)"
    case .noLiveRun(_, let known):
      known.isEmpty
        ? "Record one: retake record INPUT --pipeline P"
        : "It has those of run " + known.map(String.init).joined(separator: ", ")
    case .trimmedRun(_, let run, let original):
      "Reenact the session that it was trimmed from: "
        + "retake replay \(original?.shellWord ?? "ORIGINAL") --mode reenact --run \(run)"
    case .badCosts(let session, _, _), .badRun(let session, _, _):
      "See what is damaged with: retake session doctor \(session.shellWord)"
    case .interrupted: nil
    case .write: "Check the disk's space and the folder's permissions"
    case .database(_, let text), .media(_, let text): text.advice
    }
  }
}

/// Runs a call of the store and converts its error to a session error.
package func fromStore<Value>(_ body: () throws(StoreError) -> Value) throws(SessionError) -> Value
{
  do throws(StoreError) { return try body() } catch { throw SessionError(error) }
}

/// Runs a call of the media module and converts its error to a session error.
package func fromMedia<Value>(_ body: () throws(MediaError) -> Value) throws(SessionError) -> Value
{
  do throws(MediaError) { return try body() } catch { throw SessionError(error) }
}

/// The SHA-256 of a media file.
///
/// - Parameter continues: Called after each mebibyte with the bytes so far; false stops.
/// - Throws: `SessionError.interrupted`, or an error of the media.
package func mediaDigest(
  _ path: String, continues: (Int64) -> Bool
) throws(SessionError) -> [UInt8] {
  let digest = try fromMedia { () throws(MediaError) in
    try Sha256.digest(ofFile: path, continues: continues)
  }
  guard let digest else { throw .interrupted }
  return bytes(hex: digest)
}
