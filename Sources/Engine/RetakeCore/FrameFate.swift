/// How a frame ended at one sink.
public enum FrameFate: Hashable, Sendable {
  case delivered
  case dropped(DropReason)
  /// Removed by design. The reason is the kind of the node that removed it, such as `throttle`.
  case throttled(by: String)
  /// Replaced by a newer frame on a replace edge.
  case replaced
  /// Failed with the stage's stable code.
  case failed(code: String)
  /// Not settled when the run ended.
  case inFlight

  /// The name in result and decision lines.
  package var word: String {
    switch self {
    case .delivered: "deliver"
    case .dropped: "drop"
    case .throttled: "thin"
    case .replaced: "supersede"
    case .failed: "fail"
    case .inFlight: "inFlight"
    }
  }

  /// The reason in result and decision lines; `-` for a fate without a reason.
  package var reason: String {
    switch self {
    case .dropped(let reason): reason.rawValue
    case .throttled(let kind): kind
    case .failed(let code): code
    case .delivered, .replaced, .inFlight: "-"
    }
  }

  /// The inverse of `word` and `reason`; `nil` for unknown strings.
  package init?(word: some StringProtocol, reason: some StringProtocol) {
    switch word {
    case "deliver": self = .delivered
    case "drop":
      guard let reason = DropReason(rawValue: String(reason)) else { return nil }
      self = .dropped(reason)
    case "thin": self = .throttled(by: String(reason))
    case "supersede": self = .replaced
    case "fail": self = .failed(code: String(reason))
    case "inFlight": self = .inFlight
    default: return nil
    }
  }
}
