import RetakeCore
import RetakeRuntime
import RetakeSession
import RetakeStore

/// What is durable after a commit: the line that `record --json` prints.
public struct RecordingProgress: Hashable, Sendable, Codable {
  public struct Frames: Hashable, Sendable, Codable {
    /// `captured = recorded + missing`. Every frame that reached the recorder; each has its row.
    public var captured = 0
    /// Those with pixels.
    public var recorded = 0
    /// Those without, by cause.
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

  /// One of several tracks.
  public struct Track: Hashable, Sendable, Codable {
    public var track: Int
    public var frames = Frames()
    /// Of this track's frames, as `packetDigest`.
    public var packetDigest = Digest128.zero

    init(track: Int) {
      self.track = track
    }
  }

  public var v = 1
  /// The database's; rises by one each time.
  public var commit = 0
  /// When it was made, on the session's time line.
  public var timeNanoseconds: Int64 = 0
  /// Of all tracks.
  public var frames = Frames()
  /// Where there are several.
  public var tracks: [Track]?
  /// Of the last frame in the commit; −1 before the first one.
  public var lastSequence = -1
  public var lastArrivalNanoseconds: Int64 = 0
  public var events = 0
  public var segments = 0
  public var mediaBytes: Int64 = 0
  /// XXH3-128 over (sequence, packet hash) of every frame with pixels so far: whoever reads the
  /// session back can compute it again. Of several tracks the first one's.
  public var packetDigest = Digest128.zero
  /// Of the last seconds; nil at first.
  public var rate: RecordingRate?
  /// Frames that left the pre-trigger ring: they are no part of the session.
  public var passed = 0
  /// True once, before anything is written: the memory of the pre-trigger ring does not hold the time
  /// that was asked for.
  public var ringIsShort: Bool?
  /// Of the pipeline that runs beside; nil without one.
  public var pipeline: PipelineProgress?
  /// Who is in the session's database, while the rows of further frames wait for it:
  /// `python3 (process 4711)`.
  public var databaseHolder: String?
  /// The session is finished.
  public var closed = false
  /// The session's name, once it is finished.
  public var session: String?
  /// Its folder, once it is finished.
  public var path: String?
  /// Once it is finished.
  public var status: SessionStatus?

  public init() {}

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

/// How fast a recording goes.
public struct RecordingRate: Hashable, Sendable, Codable {
  /// Captured, those without pixels too.
  public var framesPerSecond: Double
  /// Of media.
  public var bytesPerSecond: Double
  /// Until the disk's reserve is reached; nil when nobody can say.
  public var minutesLeft: Int?
}

/// Why a recording ended.
public enum RecordingEnd: String, Hashable, Sendable, Codable {
  case sourceEnded
  /// The number of frames or the duration that was asked for.
  case limit
  /// Somebody called `stop`.
  case stopped
  /// See the result's failure.
  case failed
}

/// What came of a recording.
public struct RecordingResult: Sendable {
  public var folder: SessionFolder
  public var status: SessionStatus
  public var end: RecordingEnd
  /// Why it ended early; what was recorded before is kept and the session is closed, unless
  /// `isClosed` says otherwise.
  public var failure: RecordError?
  /// False when not even the database could be closed: `session recover` mends it.
  public var isClosed: Bool
  public var progress: RecordingProgress
  /// What the encoder's measurement said; nil when none was made.
  public var probe: EncoderProbe.Measurement?
  /// What became of the frames in the pipeline that ran beside; nil without one.
  public var pipeline: Result<RunOutcome, any Error>?
}
