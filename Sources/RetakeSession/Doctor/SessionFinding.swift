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
  public var track: Int?
  public var packet: Int?
  public var frame: FrameID?
  /// What to do next.
  public var advice: String?
}

/// What the doctor looked at, and what it found.
public struct SessionDiagnosis: Hashable, Sendable, Codable {
  public var path: String
  public var status: SessionStatus?
  /// In the order in which they were found: database, files, packets, pixels.
  public var findings: [SessionFinding]
  /// Findings that were left out because there were too many.
  public var omitted: Int
  public var packetsChecked: Int
  public var framesChecked: Int

  /// Nothing worse than a warning.
  public var isHealthy: Bool { !findings.contains { $0.severity == .error } }
}
