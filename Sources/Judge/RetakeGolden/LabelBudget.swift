package import RetakeCompare

/// Limits on one metric of the labels; `nil` means no limit.
package struct LabelBudget: Hashable, Sendable {
  /// The worst value that is within the budget: a minimum if larger values are better, else a
  /// maximum. In the unit of the metric.
  package var limit: Double?
  /// By how much the value may be worse than the golden's; 0 or more.
  package var lossMax: Double?

  package init(limit: Double? = nil, lossMax: Double? = nil) {
    (self.limit, self.lossMax) = (limit, lossMax)
  }

  /// The names of the two limits in documents: `min` and `dropMax`, or `max` and `riseMax`.
  package static func names(of metric: LabelMetric) -> (limit: String, lossMax: String) {
    metric.largerIsBetter ? ("min", "dropMax") : ("max", "riseMax")
  }

  /// The limits as values of the metric, by the name of the budget, such as `ap50.dropMax`.
  ///
  /// - Parameter golden: The golden's value, from which a loss is counted.
  func limits(
    of metric: LabelMetric, golden: Double?
  ) -> [(name: String, value: Double)] {
    let names = Self.names(of: metric)
    let sign: Double = metric.largerIsBetter ? -1 : 1
    let relative = lossMax.flatMap { loss in golden.map { $0 + sign * loss } }
    return [(names.limit, limit), (names.lossMax, relative)].compactMap { name, value in
      value.map { ("\(metric.rawValue).\(name)", $0) }
    }
  }
}
