import RetakeCore

/// A problem of a session, or something worth knowing about it.
public struct SessionFinding: Hashable, Sendable, Codable {
  public enum Severity: String, Hashable, Sendable, Codable {
    /// Worth knowing; the session replays unchanged.
    case note
    /// Some captured data is missing, and the session records that.
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
  /// The database table.
  public var table: String?
  public var track: Int?
  /// The first one, if the message covers several.
  public var packet: Int?
  public var frame: FrameID?
  /// With `frame`, if the finding covers all frames from that one to this one.
  public var lastFrame: FrameID?
  /// What to do next.
  public var advice: String?
}

/// What the doctor checked and found.
public struct SessionDiagnosis: Hashable, Sendable, Codable {
  public var path: String
  /// nil when the database cannot be read at all.
  public var status: SessionStatus?
  /// In the order in which they were found: database, files, packets, frames, pixels.
  public var findings: [SessionFinding]
  /// Number of findings that were omitted because there were too many.
  public var omitted: Int
  public var packetsChecked: Int
  public var framesChecked: Int
  /// Number of frames that cannot be replayed, whether the session records that or it was found
  /// now.
  public var damagedFrames: Int
  /// Whether there is nothing worse than a warning.
  public var isHealthy: Bool
}
