/// Options of a recording. The initializer has the most common options; the others are properties
/// with defaults.
public struct RecorderOptions: Hashable, Sendable {
  /// The session's name; nil uses the source's. It is made safe for a folder name.
  public var name: String?
  /// The parent folder of the session's folder.
  public var into: String
  /// How frames are encoded; `mpeg4` by default.
  public var preset: RecordingPreset
  /// Whether frames come at their own times; `realtime` by default.
  public var pace: RecordingPace
  /// The recording ends before a track would have more frames than this; nil means no limit.
  public var framesMax: Int?
  /// On the source's own time line; nil means no limit.
  public var durationMax: Duration?
  /// How to handle an encoder that is slower than the source; `refuse` by default. Only recordings
  /// in real time that encode are measured.
  public var probe: EncoderProbe.Policy
  /// Maximum time from a frame's arrival at the writer to its commit, not counting the commit
  /// itself; 350 ms by default.
  public var commitInterval: Duration
  /// Size from which on the next key frame begins a new media file; 2 GiB by default.
  public var segmentBytesMax: Int64
  /// The same for its duration; 10 minutes by default. Whichever limit is reached first applies.
  public var segmentDurationMax: Duration
  /// Frames that may wait for the encoder, 32 by default. When there are more, frames are shed in
  /// real time; unpaced, the source waits.
  public var waitingFramesMax: Int
  /// The same in bytes of pixels; 256 MiB by default, less if the process's memory is limited.
  public var waitingBytesMax: Int
  /// Live frames are also shed while the oldest one waits longer, so that accepted frames are
  /// durable soon; 300 ms by default.
  public var waitingDurationMax: Duration
  /// Encoded frames that may wait for the disk; 4,096 by default. When there are more, the encoder
  /// waits.
  public var waitingPacketsMax: Int
  /// The same in bytes; 64 MiB by default, less if the process's memory is limited.
  public var waitingPacketBytesMax: Int
  /// Bytes that stay free on the disk, 64 MiB by default; the recording ends before they are used.
  /// 0 turns the reserve off.
  public var reserveBytes: Int64
  /// Keeps this much of the recording in memory. Calling `trigger` writes it and everything after
  /// it; nil writes from the beginning.
  public var ring: Duration?
  /// Encoded bytes that the ring may hold. nil means one gibibyte, or a quarter of the memory that
  /// is free at the start if that is less. A ring that the probe finds too small is refused. If a
  /// ring becomes too small later, it reaches back less far, and the progress and an event report
  /// it.
  public var ringBytesMax: Int?
  /// A few words that `retake session list` and `info` show, at most 4,096 bytes. A longer one is
  /// refused by `Recorder.init`.
  public var note: String?

  /// By default, a recording goes to the folder `Recordings`, is encoded with `mpeg4` at the
  /// source's own pace, and has no limit. A name that is not allowed is refused by `Recorder.init`.
  public init(
    name: String? = nil, into: String = "Recordings", preset: RecordingPreset = .mpeg4,
    pace: RecordingPace = .realtime, framesMax: Int? = nil, durationMax: Duration? = nil,
    probe: EncoderProbe.Policy = .refuse
  ) {
    (self.name, self.into, self.preset, self.pace) = (name, into, preset, pace)
    (self.framesMax, self.durationMax, self.probe) = (framesMax, durationMax, probe)
    // docs/recording.md has the interval, the 64 MiB of waiting packets and the reserve as numbers;
    // change both.
    commitInterval = .milliseconds(350)
    segmentBytesMax = 2 << 30
    segmentDurationMax = .seconds(600)
    (waitingFramesMax, waitingBytesMax) = (32, 256 << 20)
    waitingDurationMax = .milliseconds(300)
    (waitingPacketsMax, waitingPacketBytesMax) = (4_096, 64 << 20)
    reserveBytes = 64 << 20
    (ring, ringBytesMax, note) = (nil, nil, nil)
  }

  /// Maximum rows of one commit, for sources that are faster than real time.
  static let commitRowsMax = 1_024
  /// Rows that may wait while another program locks the database: an hour of a camera's frames.
  static let spoolRowsMax = 1 << 18
  /// Rows that may wait while the disk is stalled: hours of a camera's frames.
  static let waitingRowsMax = 1 << 20
}
