import RetakeCore
import RetakeRuntime

/// Notes which bodies fail for which frames. With these notes, the decisions of other runs can be
/// made without computing the values again.
final class FailureNotes: RunObserver {
  private(set) var failures: [BodyFailure: String] = [:]
  /// Whether the run ended before its last frame.
  private(set) var isIncomplete = false

  var wantsDecisions: Bool { true }

  func decided(_ line: DecisionLine) {
    switch line.kind {
    case .fail:
      guard let frame = line.frame, let code = line["code"] else { return }
      failures[BodyFailure(node: line.node, frame: frame)] = code
    // stage-halt: no decision follows it, so failures of later frames are unknown.
    case .halt: isIncomplete = true
    default: break
    }
  }

  func finished(_ frame: FinishedFrame) {}
}
