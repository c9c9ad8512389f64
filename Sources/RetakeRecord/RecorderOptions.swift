/// Options of a recording.
public struct RecorderOptions: Hashable, Sendable {
  /// The session's name; nil uses the source's. It is made safe for a folder name.
  public var name: String?
  /// The parent folder of the session's folder.
  public var into: String
  public var preset: RecordingPreset
  public var pace: RecordingPace
  /// Number of frames after which the recording ends; nil means no limit.
  public var framesMax: Int?
  /// On the source's own time line; nil means no limit.
  public var durationMax: Duration?
  public var probe: EncoderProbe.Policy
  /// Maximum time from a frame's arrival at the writer to its commit, not counting the commit
  /// itself.
  public var commitInterval: Duration
  /// A segment ends with the first key frame after either limit.
  public var segmentBytesMax: Int64
  public var segmentDurationMax: Duration
  /// Frames that may wait for the encoder; when there are more, live frames are shed.
  public var waitingFramesMax: Int
  public var waitingBytesMax: Int
  /// Live frames are also shed while the oldest one waits longer, so that accepted frames are
  /// durable soon.
  public var waitingDurationMax: Duration
  /// Encoded frames that may wait for the disk.
  public var waitingPacketsMax: Int
  public var waitingPacketBytesMax: Int
  /// Bytes that stay free on the disk; the recording ends before they are used.
  public var reserveBytes: Int64
  /// Keeps this much of the recording in memory. Calling `trigger` writes it and everything after
  /// it; nil writes from the beginning.
  public var ring: Duration?
  /// Encoded bytes that the ring may hold. nil means one gibibyte, or a quarter of the memory that
  /// is free at the start if that is less. A ring that the probe finds too small is refused. If a
  /// ring becomes too small later, it reaches back less far, and the progress and an event report
  /// it.
  public var ringBytesMax: Int?

  public init(
    name: String? = nil, into: String = "Recordings", preset: RecordingPreset = .mpeg4,
    pace: RecordingPace = .realtime, framesMax: Int? = nil, durationMax: Duration? = nil,
    probe: EncoderProbe.Policy = .refuse
  ) {
    (self.name, self.into, self.preset, self.pace) = (name, into, preset, pace)
    (self.framesMax, self.durationMax, self.probe) = (framesMax, durationMax, probe)
    // docs/recording.md gives the interval, the 64 MiB of waiting packets and the reserve as
    // numbers; change both.
    commitInterval = .milliseconds(350)
    segmentBytesMax = 2 << 30
    segmentDurationMax = .seconds(600)
    (waitingFramesMax, waitingBytesMax) = (32, 256 << 20)
    waitingDurationMax = .milliseconds(300)
    (waitingPacketsMax, waitingPacketBytesMax) = (4_096, 64 << 20)
    reserveBytes = 64 << 20
    (ring, ringBytesMax) = (nil, nil)
  }

  /// Maximum rows of one commit, for sources that are faster than real time.
  static let commitRowsMax = 1_024
  /// Rows that may wait while another program locks the database: an hour of a camera's frames.
  static let spoolRowsMax = 1 << 18
  /// Rows that may wait while the disk is stalled: hours of a camera's frames.
  static let waitingRowsMax = 1 << 20
}
