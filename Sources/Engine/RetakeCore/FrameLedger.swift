/// The fates of the captured frames at one sink. It balances in every run:
/// `captured = delivered + dropped + throttled + replaced + failed + inFlight`.
public struct FrameLedger: Hashable, Sendable, Codable {
  /// Frames that arrived at their source and were not lost there.
  public var captured = 0
  /// Frames that reached the sink, with or without results.
  public var delivered = 0
  /// By reason; reasons that did not occur are absent.
  public var dropped: [String: Int] = [:]
  /// Frames that were left out by design: by a throttle, a sample or a route.
  public var throttled = 0
  /// Frames that a newer one replaced on a replace edge.
  public var replaced = 0
  /// Frames that ended with the failure of a stage or of the source.
  public var failed = 0
  /// Frames that were not settled when the run ended, for example because a stage halted it.
  public var inFlight = 0

  package init() {}

  /// The sum over all reasons.
  public var droppedTotal: Int { dropped.values.reduce(0, +) }

  /// Whether `captured` is the sum of all fates, as in every run that has ended.
  package var isBalanced: Bool {
    captured == delivered + droppedTotal + throttled + replaced + failed + inFlight
  }

  /// Counts one settled frame; `captured` is counted at the source.
  package mutating func count(_ fate: FrameFate) {
    switch fate {
    case .delivered: delivered += 1
    case .dropped(let reason): dropped[reason.rawValue, default: 0] += 1
    case .throttled: throttled += 1
    case .replaced: replaced += 1
    case .failed: failed += 1
    case .inFlight: inFlight += 1
    }
  }
}
