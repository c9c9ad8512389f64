/// How complete a session is.
public enum SessionStatus: String, Hashable, Sendable, Codable {
  case clean
  /// A recorder is writing the session: everything up to the last commit.
  case recording
  /// The session was never closed: everything up to the last commit.
  case recovered
  case lossy
}
