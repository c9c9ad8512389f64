package import RetakeCore

/// The rules of a case, by the path of the sink, or by the name of a mode for all sinks of that
/// kind.
package struct CompareRules: Hashable, Sendable {
  package var bySink: [String: SinkRule]

  package init(_ bySink: [String: SinkRule] = [:]) {
    self.bySink = bySink
  }

  /// Reads the rules of retake.yml or golden.yml.
  package init<Failure>(_ decoder: StrictDecoder<Failure>) throws {
    bySink = [:]
    for (sink, rule) in try decoder.members() {
      // A rule with the name of a mode has that mode unless it sets another one.
      bySink[sink] = try SinkRule(rule, mode: SinkRule.Mode(rawValue: sink) ?? .boxes)
    }
  }

  /// The rule for a sink: its own rule, else the rule of the mode that suits its results, else the
  /// default rule of that mode.
  package func rule(for sink: String, suited mode: SinkRule.Mode = .boxes) -> SinkRule {
    bySink[sink] ?? bySink[mode.rawValue] ?? SinkRule(mode: mode)
  }
}
