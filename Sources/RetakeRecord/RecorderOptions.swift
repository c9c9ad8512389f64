/// What to record, and where to.
public struct RecorderOptions: Hashable, Sendable {
  /// The session's name; nil is the source's. Made safe for a folder.
  public var name: String?
  /// The folder that the session's folder is made in.
  public var into: String
  public var preset: RecordingPreset
  public var pace: RecordingPace
  /// Frames after which the recording ends; nil goes on.
  public var framesMax: Int?
  /// On the source's own time line; nil goes on.
  public var durationMax: Duration?
  public var probe: EncoderProbe.Policy
  /// From a frame's arrival at the writer to its commit, at most; the commit itself comes on top.
  public var commitInterval: Duration
  /// A segment ends with the first key frame behind either limit.
  public var segmentBytesMax: Int64
  public var segmentDurationMax: Duration
  /// Frames that wait for the encoder; when there are more, live ones are shed.
  public var waitingFramesMax: Int
  public var waitingBytesMax: Int
  /// Live frames are also shed while the oldest one waits longer: what is taken is durable soon.
  public var waitingDurationMax: Duration
  /// Encoded frames that wait for the disk.
  public var waitingPacketsMax: Int
  public var waitingPacketBytesMax: Int
  /// Bytes that stay free on the disk: the recording ends before.
  public var reserveBytes: Int64
  /// Keep the last so much in memory, and write it and what follows when `trigger` is called; nil
  /// writes from the beginning.
  public var ring: Duration?
  /// Encoded bytes that the ring may hold; nil is a gibibyte, or a quarter of the memory that is free
  /// at the start where that is less. A ring that the probe sees will not fit is refused; one that
  /// gets too small later reaches less far back, and the progress and an event say so.
  public var ringBytesMax: Int?

  public init(
    name: String? = nil, into: String = "Recordings", preset: RecordingPreset = .mpeg4,
    pace: RecordingPace = .realtime, framesMax: Int? = nil, durationMax: Duration? = nil,
    probe: EncoderProbe.Policy = .refuse
  ) {
    (self.name, self.into, self.preset, self.pace) = (name, into, preset, pace)
    (self.framesMax, self.durationMax, self.probe) = (framesMax, durationMax, probe)
    commitInterval = .milliseconds(350)
    segmentBytesMax = 2 << 30
    segmentDurationMax = .seconds(600)
    (waitingFramesMax, waitingBytesMax) = (32, 256 << 20)
    waitingDurationMax = .milliseconds(300)
    (waitingPacketsMax, waitingPacketBytesMax) = (4_096, 64 << 20)
    reserveBytes = 64 << 20
    (ring, ringBytesMax) = (nil, nil)
  }

  /// Rows of one commit, at most: for sources that are faster than any clock.
  static let commitRowsMax = 1_024
  /// Rows that may wait while another program is in the database: an hour of a camera's.
  static let spoolRowsMax = 1 << 18
  /// Rows that may wait while the disk stands still: hours of a camera's.
  static let waitingRowsMax = 1 << 20
}
