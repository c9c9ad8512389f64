/// How complete a session is.
public enum SessionStatus: String, Hashable, Sendable, Codable {
  case clean
  /// A recorder is writing the session: everything up to the last commit.
  case recording
  /// The session was never closed: everything up to the last commit. `session recover` closes it.
  case unclosed
  /// A recorder did not close the session, and `session recover` did: only the end may be missing.
  case recovered
  case lossy
}
