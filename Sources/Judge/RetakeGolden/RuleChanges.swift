package import RetakeCompare
import RetakeCore

// The differences between two sets of rules, in the words of retake.yml: `position: 0 → 0.5`.

extension SinkRule {
  /// Each key whose value differs, in the order of retake.yml.
  package func changes(to new: SinkRule) -> [String] {
    var changes: [String] = []
    func note(
      _ key: String, _ old: some CustomStringConvertible, _ new: some CustomStringConvertible
    ) {
      if old.description != new.description { changes.append("\(key): \(old) → \(new)") }
    }
    note("mode", mode.rawValue, new.mode.rawValue)
    note("order", order.rawValue, new.order.rawValue)
    for (key, path) in Self.tolerances {
      note(key.rawValue, self[keyPath: path], new[keyPath: path])
    }
    for (key, path) in Self.counts {
      note(key.rawValue, self[keyPath: path], new[keyPath: path])
    }
    return changes
  }
}

extension GoldenManifest {
  /// A rule of retake.yml with the calibrated tolerances that it does not state: `golden calibrate`
  /// writes them into golden.yml alone.
  package func calibrated(_ rule: SinkRule, for sink: String) -> SinkRule {
    guard let own = compare.bySink[sink], own.mode == rule.mode else { return rule }
    let standard = SinkRule(mode: rule.mode)
    var rule = rule
    for fit in fitted where fit.sink == sink && fit.devices.isEmpty {
      guard let path = SinkRule.fittable[fit.quantity],
        rule[keyPath: path] == standard[keyPath: path]
      else { continue }
      rule[keyPath: path] = own[keyPath: path]
    }
    return rule
  }

  /// The evidence that still holds with other rules.
  package func fits(keptBy rules: CompareRules) -> [Fit] {
    fitted.filter { fit in
      guard let path = SinkRule.fittable[fit.quantity] else { return false }
      return fit.devices.isEmpty
        && rules.rule(for: fit.sink)[keyPath: path] == compare.rule(for: fit.sink)[keyPath: path]
    }
  }
}

extension GoldenManifest.Budgets {
  /// Each budget that differs: `budgets.latencyMax: 120ms → none`.
  package func changes(to new: Self) -> [String] {
    func time(_ value: Int?) -> String {
      value.map { Duration.nanoseconds($0).unitText } ?? "none"
    }
    func count(_ value: Int?) -> String { value.map(String.init) ?? "none" }
    let rows = [
      ("droppedMax", count(droppedMax), count(new.droppedMax)),
      ("latencyMax", time(latencyMax), time(new.latencyMax)),
      ("latencyP99", time(latencyP99), time(new.latencyP99)),
    ]
    let metrics = LabelMetric.allCases.map { metric in
      (
        metric.rawValue, labels[metric]?.text(metric) ?? "none",
        new.labels[metric]?.text(metric) ?? "none"
      )
    }
    return (rows + metrics).filter { $0.1 != $0.2 }.map { "budgets.\($0): \($1) → \($2)" }
  }
}

extension LabelBudget {
  /// `{min: 0.62, dropMax: 0.01}`.
  fileprivate func text(_ metric: LabelMetric) -> String {
    let names = Self.names(of: metric)
    let parts = [(names.limit, limit), (names.lossMax, lossMax)].compactMap { name, value in
      value.map { "\(name): \($0)" }
    }
    return "{" + parts.joined(separator: ", ") + "}"
  }
}
