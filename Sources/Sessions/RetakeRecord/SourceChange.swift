import RetakeCore

/// The state of the connection to a source that may come back.
package enum SourceChange: Hashable, Sendable {
  /// No frames arrive, and the connection is open.
  case silent
  case gone(cause: String)
  case back(after: Duration)

  /// - Returns: `nil` for an event of another kind.
  init?(kind: String, json: JSONValue) {
    let members = if case .object(let members) = json { members } else { [String: JSONValue]() }
    switch kind {
    case SourceWatch.Note.stalled.kind: self = .silent
    case SourceWatch.Note.lost(cause: "").kind:
      guard case .string(let cause)? = members["cause"] else { return nil }
      self = .gone(cause: cause)
    case SourceWatch.Note.back(gapNanoseconds: 0, attempts: 0).kind:
      guard case .integer(let gap)? = members["gapNanoseconds"] else { return nil }
      self = .back(after: .nanoseconds(gap))
    default: return nil
    }
  }
}
