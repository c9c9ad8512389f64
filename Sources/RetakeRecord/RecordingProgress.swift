import RetakeCore
import RetakeRuntime
import RetakeSession
import RetakeStore

/// What is durable after a commit; `record --json` prints one such line.
public struct RecordingProgress: Hashable, Sendable, Codable {
  public struct Frames: Hashable, Sendable, Codable {
    /// Frames that reached the recorder; each has its row. `captured = recorded + missing`.
    public var captured = 0
    /// Frames with pixels.
    public var recorded = 0
    /// Frames without pixels, by cause.
    public var missing: [String: Int] = [:]

    mutating func count(hasPixels: Bool, cause: String?) {
      captured += 1
      if hasPixels {
        recorded += 1
      } else {
        missing[cause ?? RecordCause.encodeFailed, default: 0] += 1
      }
    }
  }

  /// Progress of one of several tracks.
  public struct Track: Hashable, Sendable, Codable {
    public var track: Int
    public var frames = Frames()
    /// Digest of this track's frames, computed like `packetDigest`.
    public var packetDigest = Digest128.zero

    init(track: Int) {
      self.track = track
    }
  }

  package var v = 1
  /// The database's commit number; increases by one each time.
  public var commit = 0
  /// When the commit was made, on the session's time line.
  public var timeNanoseconds: Int64 = 0
  /// Totals of all tracks.
  public var frames = Frames()
  /// Only if there are several tracks.
  public var tracks: [Track]?
  /// Sequence of the last frame in the commit; −1 before the first one.
  public var lastSequence = -1
  public var lastArrivalNanoseconds: Int64 = 0
  public var events = 0
  public var segments = 0
  public var mediaBytes: Int64 = 0
  /// XXH3-128 over (sequence, packet hash) of every frame with pixels so far. A reader of the
  /// session can compute it again. With several tracks it covers only the first one.
  public var packetDigest = Digest128.zero
  /// Rates over the last seconds; nil at first.
  public var rate: RecordingRate?
  /// Frames that left the pre-trigger ring; they are not part of the session.
  public var passed = 0
  /// True once, before anything is written: the pre-trigger ring's memory does not hold the
  /// requested time.
  public var ringIsShort: Bool?
  /// Progress of the live pipeline; nil without one.
  public var pipeline: PipelineProgress?
  /// The program that has locked the session's database while rows wait for it: `python3 (process
  /// 4711)`.
  public var databaseHolder: String?
  /// Whether the session is finished.
  public var closed = false
  /// The session's name, after it is finished.
  public var session: String?
  /// The session's folder, after it is finished.
  public var path: String?
  /// The session's status, after it is finished.
  public var status: SessionStatus?

  package init() {}

  mutating func count(_ frame: FrameRecord, hasPixels: Bool) {
    frames.count(hasPixels: hasPixels, cause: frame.cause)
    tracks?[frame.track].frames.count(hasPixels: hasPixels, cause: frame.cause)
    lastSequence = frame.sequence
    lastArrivalNanoseconds = frame.arrivalNanoseconds
  }

  mutating func setPacketDigest(_ digest: Digest128, track: Int) {
    if track == 0 { packetDigest = digest }
    tracks?[track].packetDigest = digest
  }
}

/// The rates of a recording.
public struct RecordingRate: Hashable, Sendable, Codable {
  /// Captured frames, including those without pixels.
  public var framesPerSecond: Double
  /// Bytes of media.
  public var bytesPerSecond: Double
  /// Time until the disk's reserve is reached; nil when unknown.
  public var minutesLeft: Int?
}

/// Why a recording ended.
public enum RecordingEnd: String, Hashable, Sendable, Codable {
  case sourceEnded
  /// The requested number of frames or duration was reached.
  case limit
  /// `stop` was called.
  case stopped
  /// See the result's failure.
  case failed
}

/// The result of a recording.
public struct RecordingResult: Sendable {
  public var folder: SessionFolder
  public var status: SessionStatus
  public var end: RecordingEnd
  /// Why it ended early. What was recorded before is kept. The session is closed unless `isClosed`
  /// is false.
  public var failure: RecordError?
  /// False when even the database could not be closed: `session recover` repairs it.
  public var isClosed: Bool
  public var progress: RecordingProgress
  /// The measurement of the encoder; nil when none was made.
  public var probe: EncoderProbe.Measurement?
  /// The outcome of the live pipeline; nil without one.
  public var pipeline: Result<RunOutcome, any Error>?
}
