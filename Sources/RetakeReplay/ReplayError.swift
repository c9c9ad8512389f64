import RetakeCore

/// What keeps a replay from beginning.
public enum ReplayError: CodedError, Hashable {
  /// The case names a track for a node that is no session source.
  case unknownSource(node: String, sources: [String])
  /// The case gives quanta to a node that is no sink.
  case unknownSink(node: String, sinks: [String])
  /// The results node declares a quantum that cannot be used.
  case badQuantum(node: String, detail: String)
  case noSession(node: String)
  case decisionsUnwritable(path: String, cause: String)

  public var code: String {
    switch self {
    case .unknownSource: "replay.case.unknownSource"
    case .unknownSink: "replay.case.unknownSink"
    case .badQuantum: "replay.case.badQuantum"
    case .noSession: "replay.case.noSession"
    case .decisionsUnwritable: "replay.decisions.unwritable"
    }
  }

  public var message: String {
    switch self {
    case .unknownSource(let node, _): "a track is chosen for '\(node)', which is no session source"
    case .unknownSink(let node, _): "quanta are given for '\(node)', which is no sink"
    case .badQuantum(let node, let detail): "the quantum of '\(node)' cannot be used: \(detail)"
    case .noSession(let node): "the source '\(node)' reads a session, and none was named"
    case .decisionsUnwritable: "the decisions cannot be written"
    }
  }

  public var cause: String? {
    guard case .decisionsUnwritable(_, let cause) = self else { return nil }
    return cause
  }

  public var place: Place? {
    guard case .decisionsUnwritable(let path, _) = self else { return nil }
    return Place(file: path)
  }

  public var advice: String? {
    switch self {
    case .unknownSource(let node, let known), .unknownSink(let node, let known):
      Suggestion.advice(for: node, among: known)
    case .badQuantum: "Use powers of ten: {\"box\": 0.1, \"score\": 0.0001, \"scalar\": 0.001}"
    case .noSession: "Name one: retake replay SESSION --pipeline P"
    case .decisionsUnwritable: "Choose a file in a folder that exists and can be written"
    }
  }
}
