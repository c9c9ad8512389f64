import Foundation
public import RetakeCore
import RetakeMedia
import RetakeStore

/// An error of a session, or of making one.
///
/// Errors of the database, of the media and of sensors are thrown as they are.
public enum SessionError: RetakeError {
  /// The folder is missing, is a file, or contains no session.
  case notSession(path: String, cause: String)
  /// A joined session whose index cannot be made from its media: the clocks are only in it.
  case joinedIndex(path: String)
  /// A session whose index cannot be made from its media, because there are none.
  case noMedia(path: String)
  /// A file of times has another number of times than the video has frames.
  case timesCount(file: String, times: String, count: Int, frames: Int)
  /// A file of times for several tracks.
  case timesOfTracks(file: String, times: String, tracks: [Int])
  case unknownTrack(session: String, track: Int, known: [Int])
  case unknownFrame(session: String, frame: FrameID)
  /// The database is missing; the media that it indexes is not.
  case noDatabase(path: String)
  case badName(name: String, suggestion: String?)
  case nameTaken(path: String)
  /// A note of a session with too many bytes.
  case noteTooLong(bytes: Int, bytesMax: Int)
  /// A recorder in another process holds the session's lock. `by` describes it, if the system
  /// reports it.
  case beingRecorded(path: String, by: String?)
  /// The recording was never closed.
  case notClosed(path: String)
  /// A span of time without frames.
  case emptySpan(session: String, durationNanoseconds: Int64)
  /// The clocks of two sessions could not be compared.
  /// `ways` are the other methods that may work.
  case notAligned(
    sessions: [String], method: String, cause: String, ways: [String] = ["audio", "flash", "wall"])
  /// A trimmed session does not replay like the original.
  case trimDiffers(session: String, frame: FrameID, cause: String)
  /// No lossless encoder supports this pixel format.
  case noLossless(format: String)
  /// A replay copy does not replay like the original.
  case optimizeDiffers(session: String, frame: FrameID, cause: String)
  /// A replay copy would not replay faster.
  case alreadyFast(session: String, codec: String)
  /// A track has no pixels at all.
  case noImages(session: String, track: Int)
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
  /// The imported file differs from the indexed file.
  case originalDiffers(session: String, file: String)
  /// A copy would be inside the session itself.
  case intoItself(path: String)
  /// The folder of the sessions does not exist or cannot be read.
  case noFolder(path: String, cause: String)
  /// No sensor was named, and there are several; or there is no sensor of this name.
  case unknownSensor(session: String, name: String?, known: [String])
  /// The session has no rows of this kind.
  case nothingToExport(session: String, kind: String)
  /// The result of a recovery does not read back as it should.
  case recoveryFailed(path: String, cause: String)
  /// The images of the file change their size or format more often than a session has segments.
  case tooManySegments(file: String, frame: FrameID?, segmentsMax: Int)
  /// A frame has a time that no session holds, even if the first frame is at 0.
  case timesTooFar(file: String, frame: FrameID, seconds: Int64)
  case noFrames(file: String)
  /// Every frame of the file is damaged; the cause is the first frame's cause.
  case noGoodFrame(file: String, frames: Int, cause: String?)
  /// The database names a file outside the session's folder.
  case unsafePath(session: String, path: String)
  case mediaMissing(file: String)
  /// Git LFS has stored the file elsewhere, and this is its pointer.
  case pointer(file: String)
  /// The media file's bytes differ from the indexed bytes.
  case mediaMismatch(file: String, track: Int, packet: Int, frame: FrameID?, cause: String)
  /// The media file has more bytes than were indexed; the reader rejects it before reading.
  case mediaSize(file: String, bytes: Int64, indexedBytes: Int64)
  /// The packets are intact, but the decoder returns different pixels than at the import.
  case pixelMismatch(session: String, frame: FrameID)
  /// The frame has a row, but no pixels.
  case noPixels(session: String, frame: FrameID, cause: String)
  case undecodable(session: String, frame: FrameID, cause: String)
  /// No stage times of a live run were recorded.
  case noCosts(session: String)
  case unknownRun(session: String, run: Int, known: [Int])
  /// The recorded stage times do not form valid timings.
  case badCosts(session: String, run: Int, detail: String)
  /// No live run was recorded, or not the requested one.
  case noLiveRun(session: String, known: [Int])
  /// A trim keeps a live run's stage times, but not its decisions and their reasons. `original` is
  /// the name of the session that was trimmed, if it is known.
  case trimmedRun(session: String, run: Int, original: String?)
  /// The recorded data of a live run cannot be read.
  case badRun(session: String, run: Int, detail: String)
  /// The user stopped the operation; every partial result was removed.
  case interrupted
  /// `errorNumber` is the system's, if it has one.
  case write(path: String, cause: String, errorNumber: Int32? = nil)

  package static func write(_ path: String, _ error: any Error) -> Self {
    .write(path: path, cause: error.systemText, errorNumber: error.systemNumber)
  }

  /// The commands that compare clocks in another way than the one that failed.
  private static func otherWays(
    _ sessions: [String], _ ways: [String], not method: String
  ) -> String {
    let ways = ways.filter { $0 != method }.joined(separator: " or ")
    let names = sessions.map(\.shellWord).joined(separator: " ")
    return "Try --align \(ways), or measure how far they are apart and write: "
      + "retake session join \(names) --align offset --offset 237ms"
  }

  /// The path as a word of a command if it is a file, otherwise `FILE`.
  private static func video(_ path: String) -> String {
    var isFolder = ObjCBool(true)
    let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
    return exists && !isFolder.boolValue ? path.shellWord : "FILE"
  }

  private static func name(ofMedia file: String) -> String {
    URL(fileURLWithPath: session(ofMedia: file)).lastPathComponent
  }

  /// The folder of the session whose `media` has a file.
  package static func session(ofMedia file: String) -> String {
    URL(fileURLWithPath: file).deletingLastPathComponent().deletingLastPathComponent().path
  }

  package var facts: ErrorFacts {
    switch self {
    case .notSession(let path, let cause):
      ErrorFacts(
        "session.open.notSession", "this is not a session", cause: cause, at: path,
        advice: "List the sessions with: retake session list; make one of a video file with: "
          + "retake import " + Self.video(path))
    case .timesCount(let file, let times, let count, let frames):
      ErrorFacts(
        "session.import.timesCount",
        "the video has \(counted(frames, "frame")), and '\(times)' has \(counted(count, "time"))",
        at: file,
        advice: "Use the file of times that was written with this video, with one time a frame")
    case .timesOfTracks(let file, let times, let tracks):
      ErrorFacts(
        "session.import.timesOfTracks",
        "'\(times)' has the times of one track, and the video has the tracks \(Self.list(tracks))",
        at: file, advice: "Name the track: --track \(tracks.first ?? 0)", kind: .usage)
    case .noMedia(let path):
      ErrorFacts(
        "session.recover.noMedia", "this session has no media to make an index from",
        at: path + "/media",
        advice: "Copy its media there, from a backup or with: git lfs pull; "
          + "or import the original again: retake import ORIGINAL")
    case .joinedIndex(let path):
      ErrorFacts(
        "session.recover.joined", "the index of a joined session cannot be made from its media",
        cause: "how the clock of its second camera runs is only in the index", at: path,
        advice: "Join the two sessions that it was made of again: retake session join A B")
    case .unknownTrack(let session, let track, let known):
      ErrorFacts(
        "session.track.unknown",
        "the session has no track \(track); it has \(Self.list(known))", at: session,
        advice: "List its tracks: retake session info \(session.shellWord)")
    case .unknownFrame(let session, let frame):
      ErrorFacts(
        "session.frame.unknown", "the session has no such frame", at: session, frame: frame,
        advice: "Show its tracks and frames: retake session info \(session.shellWord)")
    case .noDatabase(let path):
      ErrorFacts(
        "session.open.noDatabase",
        "the session's database session.sqlite is missing; its media is there", at: path,
        advice: "Rebuild it from the media: "
          + "retake session recover \(path.shellWord) --from-media")
    case .notAligned(let sessions, _, _, _) where sessions.count == 1:
      ErrorFacts(
        "session.join.notAligned", "a session cannot be joined with itself", at: sessions.first,
        advice: "Name the sessions of two cameras; list them: retake session list", kind: .usage)
    case .notAligned(let sessions, let method, let cause, let ways):
      ErrorFacts(
        "session.join.notAligned", "the clocks cannot be compared by \(method)", cause: cause,
        at: sessions.joined(separator: " and "), advice: Self.otherWays(sessions, ways, not: method)
      )
    case .unknownSensor(let session, let name, let known):
      ErrorFacts(
        "session.sensor.unknown",
        name.map { "the session has no sensor '\($0)'" } ?? "the session has several sensors",
        at: session,
        advice: name.map { Suggestion.advice(for: $0, among: known) }
          ?? "Name one with --sensor: \(known.joined(separator: ", "))", kind: .usage)
    case .badName(let name, let suggestion):
      ErrorFacts(
        "session.name.bad", "'\(name)' cannot be a session's name",
        advice: suggestion.map { "Write: --name \($0)" }
          ?? "Choose letters, digits, '-', '_' and '.', with --name",
        kind: .usage)
    case .noteTooLong(let bytes, let bytesMax):
      ErrorFacts(
        "session.note.tooLong", "a note has at most \(bytesMax) bytes; this one has \(bytes)",
        advice: "Shorten it, and write longer texts into the NOTES.md of the session's folder",
        kind: .usage)
    case .nameTaken(let path):
      ErrorFacts(
        "session.name.taken", "a session of this name exists already", at: path,
        advice: "Choose another name with --name, or remove that folder")
    case .beingRecorded(let path, let holder):
      ErrorFacts(
        "session.lock.held",
        "another program writes to this session" + (holder.map { ": \($0)" } ?? ""), at: path,
        advice: "Wait until it has ended, or copy the committed part: "
          + "retake session snapshot \(path.shellWord) --into DIR")
    case .notClosed(let path):
      ErrorFacts(
        "session.open.notClosed", "the recording was never closed", at: path,
        advice: "Close it first: retake session recover \(path.shellWord)")
    case .emptySpan(let session, let duration):
      ErrorFacts(
        "session.trim.empty",
        "the session has no frame in that span; it is "
          + "\(Duration.nanoseconds(duration).roundedText) long",
        at: session,
        advice: "Choose another span with --from and --to, counted from the first frame")
    case .trimDiffers(let session, let frame, let cause):
      ErrorFacts(
        "session.trim.differs", "the trimmed session does not replay as the original does",
        cause: cause, at: session, frame: frame, advice: Self.isWhole(session))
    case .noLossless(let format):
      ErrorFacts(
        "session.trim.format", "no lossless encoder here accepts images of \(format)",
        advice: "List the encoders of this FFmpeg: retake doctor")
    case .optimizeDiffers(let session, let frame, let cause):
      ErrorFacts(
        "session.transcode.differs", "the replay copy does not replay as the original does",
        cause: cause, at: session, frame: frame, advice: Self.isWhole(session))
    case .alreadyFast(let session, let codec):
      ErrorFacts(
        "session.transcode.alreadyFast",
        "the session replays as fast as a copy would: its frames are \(codec) already",
        at: session, advice: "Use it as it is, or make the copy all the same with --force")
    case .noImages(let session, let track):
      ErrorFacts(
        "session.transcode.noImages", "no frame of track \(track) has pixels", at: session,
        advice: Self.damage(session))
    case .noRoom(let path, let need, let free):
      ErrorFacts(
        "session.transcode.noRoom",
        "the copy needs about \(ByteText.of(need)), and \(FreeSpace.disk(above: path)) has "
          + "\(ByteText.of(free)) left; nothing was written",
        at: path,
        advice: "Free space on it, choose another disk with --into, or a smaller copy with "
          + "--preset h264")
    case .noRoomForCopy(let path, let need, let free):
      ErrorFacts(
        "session.copy.noRoom",
        "the copy needs \(ByteText.of(need)), and \(FreeSpace.disk(above: path)) has "
          + "\(ByteText.of(free)) left; nothing was written",
        at: path, advice: FullDisk.advice)
    case .fileExists(let path):
      ErrorFacts(
        "session.export.exists", "this exists already", at: path,
        advice: "Choose another file, or remove this one")
    case .unknownContainer(let path, let known):
      ErrorFacts(
        "session.export.container",
        "unknown file extension; use one of ." + known.joined(separator: ", ."), at: path,
        advice: "Change the file's name, for example to OUT.mkv", kind: .usage)
    case .containerCodec(let path, let codec, let instead):
      ErrorFacts(
        "session.export.codec",
        ".\(path.split(separator: ".").last ?? "") files do not hold \(codec)", at: path,
        advice: "Use another container: \(instead)")
    case .exportDiffers(let path, let form, let cause, let instead):
      ErrorFacts(
        "session.export.differs",
        "\(form) does not read back as the session's frames; nothing was written", cause: cause,
        at: path, advice: instead.map { "Use another container: \($0)" })
    case .originalDiffers(let session, let file):
      ErrorFacts(
        "session.export.original", "\(file) is not the file that was imported", at: session,
        advice: Self.damage(session))
    case .intoItself(let path):
      ErrorFacts(
        "session.copy.intoItself", "a session cannot be copied into itself", at: path,
        advice: "Choose another folder with --into, or another name with --name", kind: .usage)
    case .noFolder(let path, let cause):
      ErrorFacts(
        "session.list.noFolder", "there are no sessions here", cause: cause, at: path,
        advice: "Make the first one with: retake import FILE; or say where they are: "
          + "retake session list --from DIR")
    case .nothingToExport(let session, let kind):
      ErrorFacts(
        "session.export.nothing", "the session has no \(kind)", at: session,
        advice: "List its content: retake session info \(session.shellWord)")
    case .recoveryFailed(let path, let cause):
      ErrorFacts(
        "session.recover.failed", "the session could not be recovered", cause: cause, at: path,
        advice: Self.damage(path))
    case .tooManySegments(let file, let frame, let most):
      ErrorFacts(
        "session.import.tooManySegments",
        "the images change their size or format too often: each change begins a segment, "
          + "and a session has at most \(most)",
        at: file, frame: frame,
        advice: "Scale all images to one size first: "
          + "ffmpeg -i \(file.shellWord) -vf scale=1280:720 -c:v ffv1 OUT.mkv")
    case .timesTooFar(let file, let frame, let seconds):
      ErrorFacts(
        "session.import.times",
        "a frame has the time \(seconds) s; a session's times are within 73 years of 0", at: file,
        frame: frame,
        advice: "Set new times for the frames: ffmpeg -i \(file.shellWord) -vf setpts=N/25/TB "
          + "-c:v ffv1 OUT.mkv")
    case .noFrames(let file):
      ErrorFacts(
        "session.import.noFrames", "no frame of the file can be decoded", at: file,
        advice: "Check that the file plays, for instance with: ffplay \(file.shellWord)")
    case .noGoodFrame(let file, let frames, let cause):
      ErrorFacts(
        "session.import.noGoodFrame",
        frames == 1
          ? "the file's one frame is damaged" : "all \(frames) frames of the file are damaged",
        cause: cause, at: file,
        advice: "Check that the file plays, for instance with: ffplay \(file.shellWord)")
    case .unsafePath(let session, let path):
      ErrorFacts(
        "session.file.unsafe", "the database names a file outside of the session: '\(path)'",
        at: session, advice: "Do not use this session: it was not made by retake")
    case .mediaMissing(let file):
      ErrorFacts(
        "session.media.missing",
        "the media file of the session '\(Self.name(ofMedia: file))' is missing", at: file,
        advice: "Put the file back, for example from a backup. Or make the session again: remove "
          + "its folder, then retake import ORIGINAL --name "
          + Self.name(ofMedia: file).shellWord)
    case .pointer(let file):
      ErrorFacts(
        "session.file.pointer", "this is a pointer of Git LFS, not the file itself", at: file,
        advice: LargeFilePointer.advice)
    case .mediaMismatch(let file, let track, let packet, let frame, let cause):
      ErrorFacts(
        "session.media.mismatch",
        "the media does not match the index: track \(track), packet \(packet)", cause: cause,
        at: file, frame: frame,
        advice: "Find all damage: retake session check "
          + Self.session(ofMedia: file).shellWord)
    case .mediaSize(let file, let bytes, let indexed):
      ErrorFacts(
        "session.media.mismatch",
        "the media does not match the index: the file has \(bytes) bytes, not \(indexed)",
        at: file, advice: "Put the original media back, or import it again")
    case .pixelMismatch(let session, let frame):
      ErrorFacts(
        "session.pixels.mismatch", "the frame's pixels differ from the stored pixels",
        at: session, frame: frame,
        advice: "See which frames differ: retake session check \(session.shellWord) --deep. "
          + "If all do, this FFmpeg decodes differently from the FFmpeg of the session: "
          + "import the media again")
    case .noPixels(let session, let frame, let cause):
      ErrorFacts(
        "session.frame.noPixels", "the frame has no pixels", cause: cause, at: session,
        frame: frame, advice: Self.damage(session) + " --deep")
    case .undecodable(let session, let frame, let cause):
      ErrorFacts(
        "session.frame.undecodable", "the frame cannot be decoded", cause: cause, at: session,
        frame: frame, advice: Self.damage(session) + " --deep")
    case .noCosts(let session):
      ErrorFacts(
        "session.costs.none", "the session has no recorded stage times", at: session,
        advice: "Measure some: retake replay SESSION --pipeline P --write-timings FILE; "
          + "then --costs timings:FILE")
    case .unknownRun(let session, let run, let known):
      ErrorFacts(
        "session.run.unknown",
        "the session has no stage times of run \(run); it has stage times of run "
          + "\(Self.list(known))",
        at: session, advice: "Choose one: --costs timings@\(known.last ?? 0)")
    case .badCosts(let session, let run, let detail):
      ErrorFacts(
        "session.costs.bad", "the stage times of run \(run) are damaged: \(detail)",
        at: session, advice: Self.damage(session))
    case .noLiveRun(let session, let known):
      ErrorFacts(
        "session.run.none", "the session has no such live run", at: session,
        advice: known.isEmpty
          ? "Record one: retake record INPUT --pipeline P"
          : "It has run \(Self.list(known))")
    case .trimmedRun(let session, let run, let original):
      ErrorFacts(
        "session.run.none", "the session has only stage times of the live run \(run)",
        cause: "it was trimmed, and the decisions of a live run depend on all earlier frames",
        at: session,
        advice: "Reproduce the session that it was trimmed from: "
          + "retake replay \(original?.shellWord ?? "ORIGINAL") --mode reproduce --run \(run)")
    case .badRun(let session, let run, let detail):
      ErrorFacts(
        "session.run.bad", "the live run \(run) is damaged: \(detail)", at: session,
        advice: Self.damage(session))
    case .interrupted:
      ErrorFacts("session.interrupted", "interrupted; no file was left")
    case .write(let path, let cause, _):
      ErrorFacts(
        "session.write", "this cannot be written", cause: cause, at: path,
        advice: "Check the disk's space and the folder's permissions")
    }
  }

  private static func damage(_ session: String) -> String {
    "Find the damage: retake session check \(session.shellWord)"
  }

  private static func isWhole(_ session: String) -> String {
    "Check the original: retake session check \(session.shellWord) --deep"
  }

  private static func list(_ numbers: [Int]) -> String {
    numbers.map(String.init).joined(separator: ", ")
  }

  /// The stable identifier of the error, such as `session.frame.unknown`.
  public var code: String { facts.code }
  /// The problem, in one sentence.
  public var message: String { facts.message }
  /// The reason, if it is known; `nil` if the message is enough.
  public var cause: String? { facts.cause }
  /// The file, session, track or frame with the problem; `nil` if there is no such place.
  public var place: Place? { facts.place }
  /// The next step for the user; `nil` if there is no general advice.
  public var advice: String? { facts.advice }
}

extension Error {
  /// Whether the error is of a session, or of the database or the media in it.
  package var isAboutSession: Bool {
    self is SessionError || self is StoreError || self is MediaError
  }
}

extension RegularFile.Refusal {
  /// The error of a media file that could not be opened, as `MediaFile` throws it.
  package func error(ofMedia path: String) -> any RetakeError {
    switch self {
    case .missing: SessionError.mediaMissing(file: path)
    case .folder: MediaError.directory(file: path)
    case .link, .special, .tooLarge: MediaError.special(file: path)
    case .system(EACCES), .system(EPERM): StoreError(self, path: path)
    case .system: MediaError.unreadable(file: path, cause: description)
    }
  }
}

/// The SHA-256 of a media file.
///
/// - Parameter continues: Called after each mebibyte with the bytes so far; false stops.
/// - Throws: `SessionError.interrupted`, or an error of the media.
package func mediaDigest(
  _ path: String, continues: (Int64) -> Bool
) throws -> [UInt8] {
  guard let digest = try Sha256.digest(ofFile: path, continues: continues) else {
    throw SessionError.interrupted
  }
  return bytes(hex: digest)
}
