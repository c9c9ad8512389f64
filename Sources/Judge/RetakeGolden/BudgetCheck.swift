import RetakeCompare
import RetakeCore

/// Checks a run's own numbers against the budgets of its golden.
struct BudgetCheck {
  private let budgets: GoldenManifest.Budgets
  private let summary: GoldenManifest.Summary
  /// The sink whose deliveries the latency is measured at.
  private let primarySink: String?
  /// `nil` if the session has no labels.
  private let labels: LabelComparison?
  /// Whether the session had labels when the golden was accepted.
  private let hadLabels: Bool

  /// - Parameter primarySink: `nil` if it is not known; then the last node is named.
  init(
    _ manifests: (golden: GoldenManifest, actual: GoldenManifest), primarySink: String? = nil,
    labels: LabelComparison? = nil
  ) {
    self.labels = labels
    hadLabels = manifests.golden.labels != nil
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
    ].compactMap(\.self) + metrics(&comparator)
  }

  /// Why budgets of metrics cannot be checked, in words: the case fails.
  var unchecked: [String] {
    guard let labels else {
      return hadLabels && !budgets.labels.isEmpty
        ? ["the golden has budgets for metrics, and the session has no labels any more"] : []
    }
    return LabelMetric.allCases.compactMap { metric in
      guard budgets.labels[metric] != nil, labels.actual.metrics[metric] == nil else { return nil }
      return "\(metric.rawValue) has a budget, and cannot be computed from \(labels.file) and "
        + "'\(labels.sink)'"
    }
  }

  private func metrics(_ comparator: inout ResultComparator) -> [BudgetResult] {
    for problem in unchecked { comparator.log.add(Finding(.budget, message: problem)) }
    guard let labels else { return [] }
    return LabelMetric.allCases.flatMap { metric -> [BudgetResult] in
      guard let budget = budgets.labels[metric], let value = labels.actual.metrics[metric] else {
        return []
      }
      return budget.limits(of: metric, golden: labels.golden?.metrics[metric]).map {
        name, limit in
        check(
          BudgetResult(
            name: name, spent: Self.millionths(value), allowed: Self.millionths(limit),
            unit: .millionths, isMinimum: metric.largerIsBetter), value, limit, &comparator)
      }
    }
  }

  private func check(
    _ result: BudgetResult, _ value: Double, _ limit: Double, _ comparator: inout ResultComparator
  ) -> BudgetResult {
    if !result.isMet {
      comparator.log.add(
        Finding(
          .budget, frame: labels?.change?.worst?.frame, magnitude: value, allowed: limit,
          message: "\(result.name): \(FixedPoint.text(result.spent, digits: 6)), "
            + "\(result.isMinimum ? "at least" : "at most") "
            + "\(FixedPoint.text(result.allowed, digits: 6)) is allowed"))
    }
    return result
  }

  private static func millionths(_ value: Double) -> Int {
    // A limit of a document may be any number; a metric is far below.
    Int((min(max(value, -1e9), 1e9) * 1_000_000).rounded())
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
