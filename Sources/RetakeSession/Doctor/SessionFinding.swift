import RetakeCore

/// Something that is wrong with a session, or worth knowing about it.
public struct SessionFinding: Hashable, Sendable, Codable {
  public enum Severity: String, Hashable, Sendable, Codable {
    /// Worth knowing; the session replays as it is.
    case note
    /// Some of what was captured is gone, and the session says so.
    case warning
    /// The session cannot be trusted.
    case error
  }

  /// Stable and dotted: `session.doctor.packet`.
  public var code: String
  public var severity: Severity
  /// One sentence.
  public var message: String
  public var file: String?
  /// Of the database.
  public var table: String?
  public var track: Int?
  /// The first one, where the message speaks of several.
  public var packet: Int?
  public var frame: FrameID?
  /// With `frame`, where the finding is about all frames from the one to the other.
  public var lastFrame: FrameID?
  /// What to do next.
  public var advice: String?
}

/// What the doctor looked at, and what it found.
public struct SessionDiagnosis: Hashable, Sendable, Codable {
  public var path: String
  /// nil when the database cannot be read at all.
  public var status: SessionStatus?
  /// In the order in which they were found: database, files, packets, frames, pixels.
  public var findings: [SessionFinding]
  /// Findings that were left out because there were too many.
  public var omitted: Int
  public var packetsChecked: Int
  public var framesChecked: Int
  /// Frames that cannot be replayed: what the session knows of, and what was found now.
  public var damagedFrames: Int
  /// Nothing worse than a warning.
  public var isHealthy: Bool
}
