public import RetakeCore

/// Options of an import.
public struct ImportOptions: Hashable, Sendable {
  let file: String
  let name: String?
  let into: String
  let tracks: [Int]
  let link: Bool
  let sensors: [String]
  let hasTelemetry: Bool
  let hasSound: Bool

  /// By default, copies the file into a session in `Recordings`, with all of its video tracks.
  /// Nothing is checked before the import runs.
  ///
  /// - Parameters:
  ///   - file: The path of the media file. Symbolic links are followed.
  ///   - name: The session's name, which has to be safe for a folder; `nil` uses the file's name
  ///     without its extension, made safe.
  ///   - into: The parent folder of the session's folder.
  ///   - tracks: The file's own stream numbers; empty selects all video tracks.
  ///   - link: Link to the file instead of copying it.
  ///   - sensors: Files of samples that are imported with the frames, as `--sensor` takes them:
  ///     `imu.csv:time=t,unit=us`. `docs/sensors.md` has the keys.
  ///   - hasTelemetry: Whether to import what the camera measured, if the file has it (GPMF).
  ///   - hasSound: Whether to make a sensor `sound` of each audio track: its waveform.
  public init(
    file: String, name: String? = nil, into: String = "Recordings", tracks: [Int] = [],
    link: Bool = false, sensors: [String] = [], hasTelemetry: Bool = true,
    hasSound: Bool = true
  ) {
    self.file = file
    self.name = name
    self.into = into
    self.tracks = tracks
    self.link = link
    self.sensors = sensors
    self.hasTelemetry = hasTelemetry
    self.hasSound = hasSound
  }
}

/// Progress of an import.
public struct ImportProgress: Hashable, Sendable {
  /// The steps, in this order. Decoding and checking are done for one track after another.
  public enum Phase: String, Hashable, Sendable {
    case copying, indexing, decoding, checking, hashing, sensors
  }

  /// The step that is being done.
  public var phase: Phase
  /// Frames of the phase that are done; bytes while copying and hashing, samples of sensors.
  public var done: Int
  /// Approximate total; nil when unknown.
  public var total: Int?

  package init(phase: Phase, done: Int, total: Int?) {
    (self.phase, self.done, self.total) = (phase, done, total)
  }
}

/// The result of an import.
public struct ImportResult: Hashable, Sendable {
  /// One track of the new session.
  public struct Track: Hashable, Sendable {
    /// The stream's number in the file.
    public var track: Int
    /// FFmpeg's name, such as `h264`.
    public var codec: String
    /// In pixels.
    public var width: Int
    /// In pixels.
    public var height: Int
    /// All frames of the track, including damaged ones.
    public var frames: Int
    /// Number of frames with a recorded cause.
    public var damaged: Int
    /// Whether the stream has neither times nor a rate, so that its rate is assumed.
    package var isRateAssumed = false
  }

  /// The new session.
  public var folder: SessionFolder
  /// The imported tracks, in ascending order of their number.
  public var tracks: [Track]
  /// The imported sensors, in the order of their numbers.
  public var sensors: [SensorTrack]
  /// `clean`, or `lossy` if something is known to be missing or damaged.
  public var status: SessionStatus
  /// Remarks: what is missing or damaged, and streams that are kept but not indexed.
  public var notes: [String]
  /// Places where the file's timestamps do not simply increase, in order of tracks and frames; only
  /// the first 200.
  package var times: [TimePlace]
  /// Total number of such places.
  package var timeCount: Int
}

/// How complete a session is.
public enum SessionStatus: String, Hashable, Sendable, Codable {
  case clean
  /// A recorder is writing the session: everything up to the last commit.
  case recording
  /// The session was never closed: everything up to the last commit.
  case recovered
  case lossy
}
