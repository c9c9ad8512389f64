import RetakeCompare
import RetakeCore

/// Checks a run's own numbers against the budgets of its golden.
struct BudgetCheck {
  private let budgets: GoldenManifest.Budgets
  private let summary: GoldenManifest.Summary
  /// The sink whose deliveries the latency is measured at.
  private let primarySink: String?

  /// - Parameter primarySink: `nil` if it is not known; then the last node is named.
  init(
    _ manifests: (golden: GoldenManifest, actual: GoldenManifest), primarySink: String? = nil
  ) {
    budgets = manifests.golden.budgets
    summary = manifests.actual.summary
    self.primarySink = primarySink ?? manifests.actual.pipeline.nodes.last
  }

  /// The use of each budget that is set. Findings go to the comparator's log.
  func run(_ comparator: inout ResultComparator) -> [BudgetResult] {
    [
      drops(&comparator),
      latency(
        "latencyMax", budgets.latencyMax, summary.latency?.max, "the slowest frame took",
        frame: summary.latency?.slowest, &comparator),
      latency(
        "latencyP99", budgets.latencyP99, summary.latency?.p99, "99 of 100 frames took up to",
        frame: nil, &comparator),
    ].compactMap(\.self)
  }

  private func drops(_ comparator: inout ResultComparator) -> BudgetResult? {
    guard let allowed = budgets.droppedMax else { return nil }
    // Drops are counted at each sink. A frame that two sinks miss is one frame, so the counts are
    // not added.
    let spent = comparator.dropped.max() ?? 0
    if spent > allowed {
      comparator.log.add(
        Finding(
          .budget, magnitude: Double(spent), allowed: Double(allowed),
          message: "\(counted(spent, "frame was", "frames were")) dropped, \(allowed) allowed"))
    }
    return BudgetResult(name: "droppedMax", spent: spent, allowed: allowed)
  }

  private func latency(
    _ name: String, _ allowed: Int?, _ spent: Int?, _ words: String, frame: FrameID?,
    _ comparator: inout ResultComparator
  ) -> BudgetResult? {
    guard let allowed else { return nil }
    // Without virtual costs, every frame is delivered when it arrives.
    let spent = spent ?? 0
    if spent > allowed {
      let texts = [spent, allowed].map { Duration.nanoseconds($0).unitText }
      comparator.log.add(
        Finding(
          .budget, frame: frame, node: primarySink, magnitude: Double(spent),
          allowed: Double(allowed),
          message: "\(words) \(texts[0]) of virtual time, \(texts[1]) are allowed"))
    }
    return BudgetResult(name: name, spent: spent, allowed: allowed, unit: .nanoseconds)
  }
}
