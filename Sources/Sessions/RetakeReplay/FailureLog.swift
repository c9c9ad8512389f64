import RetakeBuffers
package import RetakeCore
package import RetakeGraph
package import RetakeRuntime

/// Reports what goes wrong in a run as it happens: the first few failures of each stage and
/// code, the halt, the first drop of each stage and reason, and the first frame that is lost before
/// capture. At the end it reports how many more failures there were; drops are counted elsewhere.
///
/// Any thread may call it. It waits only if the receiver of its messages does.
package final class FailureLog: RunObserver, Sendable {
  /// The failures of a stage and code that are reported one by one.
  private static let toldMax = 3

  package enum Message: Hashable, Sendable {
    /// A line that begins with `warning: `.
    case warning(String)
    /// The run was halted: no more decisions follow.
    case halted(StageFailure)
  }

  private struct Drop: Hashable, Sendable {
    var node: String
    var reason: DropReason
  }

  private struct State: Sendable {
    var tally = FailureTally()
    /// One for each stage and reason, so the pipeline is their bound.
    var drops: Set<Drop> = []
    var isLossTold = false
    /// From the decision to halt on, no frame is accepted, and that is not reported as a loss.
    var isHalted = false
    var isHaltTold = false
  }

  private let state = Locked(State())
  private let tell: @Sendable (Message) -> Void

  /// - Parameter tell: Called with each message, on the thread that notices it.
  package init(_ tell: @escaping @Sendable (Message) -> Void) {
    self.tell = tell
  }

  /// Reports the failures at a frame.
  package func found(_ result: LiveResult) {
    for failure in result.frame.failures { failed(failure) }
  }

  package func finished(_ frame: FinishedFrame) {}

  package func failed(_ failure: StageFailure) {
    guard failure.isRecoverable else { return halted(failure) }
    let count = state.withLock { $0.tally.note(failure) }
    if count <= Self.toldMax { tell(.warning("warning: \(failure)")) }
  }

  /// Reports a notice of a stage about itself.
  package func noticed(_ notice: StageNotice) { tell(.warning("warning: \(notice.failure)")) }

  private func halted(_ failure: StageFailure) {
    let isFirst = state.withLock { state -> Bool in
      defer { (state.isHalted, state.isHaltTold) = (true, true) }
      return !state.isHaltTold
    }
    if isFirst { tell(.halted(failure)) }
  }

  /// Reports drops and losses among the decisions.
  package func decided(_ lines: [DecisionLine]) {
    for line in lines {
      switch line.kind {
      case .drop: dropped(line)
      case .lost: lost(line)
      case .halt: state.withLock { $0.isHalted = true }
      default: break
      }
    }
  }

  private func dropped(_ line: DecisionLine) {
    guard let reason = Self.reason(of: line) else { return }
    let drop = Drop(node: line.node, reason: reason)
    guard state.withLock({ $0.drops.insert(drop).inserted }) else { return }
    let cause =
      switch reason {
      case .queue: "because its queue is full"
      case .pool: "because its pool has no free buffer"
      case .timeout: "because its partners did not come in time"
      case .partnerMissing: "because its partners are missing"
      }
    tell(
      .warning(
        "warning: \(Self.place(of: line)): dropped, \(cause) [\(reason.rawValue)]; more drops "
          + "like this are only counted"))
  }

  private func lost(_ line: DecisionLine) {
    guard let reason = Self.reason(of: line), takesLoss() else { return }
    let cause =
      reason == .pool
      ? "because its pool has no free buffer" : "because a downstream queue is full"
    tell(
      .warning(
        "warning: \(Self.place(of: line)): lost before capture, \(cause) [\(reason.rawValue)]; "
          + "more losses are only counted"))
  }

  private static func reason(of line: DecisionLine) -> DropReason? {
    line["reason"].flatMap { DropReason(rawValue: $0) }
  }

  /// Reports that frames are lost before capture, unless that has been reported. A frame that is
  /// lost because the queue before the decisions is full is in no decision.
  ///
  /// - Parameter lost: The number of frames that were lost so far.
  package func found(lost: Int) {
    guard lost > 0, takesLoss() else { return }
    tell(
      .warning(
        "warning: the pipeline is slower than its source: some frames are lost before capture, "
          + "and only counted"))
  }

  /// Whether this is the first loss of a run that was not halted.
  private func takesLoss() -> Bool {
    state.withLock { state in
      guard !state.isLossTold, !state.isHalted else { return false }
      state.isLossTold = true
      return true
    }
  }

  /// Reports the number of failures that were not reported. Call it once, when the run has ended.
  ///
  /// - Parameters:
  ///   - failures: The first failures of the run, in order; none if all of them were reported here.
  ///   - total: The number of all failures of the run.
  package func finish(_ failures: [StageFailure] = [], of total: Int = 0) {
    let told = state.withLock { $0.tally }
    var all = FailureTally()
    for failure in failures where failure.isRecoverable { all.note(failure) }
    for (first, _) in told.entries where all.count(of: first) == 0 { all.note(first) }
    let isExact = failures.count == total
    for (first, kept) in all.entries {
      // A frame has one failure of each stage, and the tally also counts the failures of all items.
      let count = max(kept, told.count(of: first))
      var shown = min(told.count(of: first), Self.toldMax)
      if shown == 0 {
        tell(.warning("warning: \(first)"))
        shown = 1
      }
      guard count > shown else { continue }
      let number = (isExact ? "" : "at least ") + counted(count - shown, "more time")
      tell(.warning("warning: stage \(first.node) failed \(number) [\(first.code)]"))
    }
  }

  private static func place(of line: DecisionLine) -> String {
    let item = line.item.map { ", item \($0)" } ?? ""
    return (line.frame.map { "frame \($0)\(item), " } ?? "") + "stage \(line.node)"
  }
}
