package import RetakeCore

/// A problem of a session, or something worth knowing about it.
package struct SessionFinding: Hashable, Sendable, Codable {
  package enum Severity: String, Hashable, Sendable, Codable {
    /// Worth knowing; the session replays unchanged.
    case note
    /// Some captured data is missing, and the session records that.
    case warning
    /// The session cannot be trusted.
    case error
  }

  /// Stable and dotted: `session.check.packet`.
  package var code: String
  package var severity: Severity
  /// One sentence.
  package var message: String
  package var file: String?
  /// The database table.
  package var table: String?
  package var track: Int?
  /// The first one, if the message covers several.
  package var packet: Int?
  package var frame: FrameID?
  /// With `frame`, if the finding covers all frames from that one to this one.
  package var lastFrame: FrameID?
  /// The next step for the user, such as a command to run.
  package var advice: String?
}
