public import RetakeCore

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
    /// Number of frames of the track, including damaged frames.
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
  /// Remarks on missing or damaged data, and on streams that are kept but not indexed.
  public var notes: [String]
  /// Places where the file's timestamps do not simply increase, in order of tracks and frames; only
  /// the first 200.
  package var times: [TimePlace]
  /// Total number of such places.
  package var timeCount: Int
}
