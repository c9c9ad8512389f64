import RetakeCore

/// What to import, and where to.
public struct ImportOptions: Hashable, Sendable {
  public var file: String
  /// The session's name; nil is the file's name without its extension. Made safe for a folder.
  public var name: String?
  /// The folder that the session's folder is made in.
  public var into: String
  /// The file's own stream numbers; empty takes all video tracks.
  public var tracks: [Int]
  /// Link to the file rather than copying it.
  public var link: Bool

  public init(
    file: String, name: String? = nil, into: String = "Recordings", tracks: [Int] = [],
    link: Bool = false
  ) {
    self.file = file
    self.name = name
    self.into = into
    self.tracks = tracks
    self.link = link
  }
}

/// How far an import is.
public struct ImportProgress: Hashable, Sendable {
  public enum Phase: String, Hashable, Sendable {
    case copying, indexing, decoding, checking, hashing
  }

  public var phase: Phase
  /// Frames of the phase that are done; bytes while copying and hashing.
  public var done: Int
  /// About as many as there will be; nil when that is not known.
  public var total: Int?
}

/// What came of an import.
public struct ImportResult: Hashable, Sendable {
  public struct Track: Hashable, Sendable {
    public var track: Int
    public var codec: String
    /// Pixels.
    public var width: Int
    /// Pixels.
    public var height: Int
    public var frames: Int
    /// Frames with a recorded cause.
    public var damaged: Int
  }

  public var folder: SessionFolder
  public var tracks: [Track]
  /// `clean`, or `lossy` where something is known to be missing or damaged.
  public var status: SessionStatus
  /// In words: what is missing or damaged, streams that are kept but not indexed.
  public var notes: [String]
  /// Where the file's time stamps do not simply rise, in the order of tracks and frames; the first
  /// 200 of them.
  public var times: [TimePlace]
  /// How many such places there are.
  public var timeCount: Int
}

/// How much of what was captured is there.
public enum SessionStatus: String, Hashable, Sendable, Codable {
  case clean
  /// A recorder is writing it now: everything up to the last commit.
  case recording
  /// Never closed: everything up to the last commit.
  case recovered
  case lossy
}
