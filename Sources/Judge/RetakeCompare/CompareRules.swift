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
  ///
  /// - Parameter hasImages: Whether a rule `pictures` limits the images among its results.
  package func rule(
    for sink: String, suited mode: SinkRule.Mode = .boxes, hasImages: Bool = false
  ) -> SinkRule {
    if let own = bySink[sink] { return own }
    let rule = bySink[mode.rawValue] ?? SinkRule(mode: mode)
    guard hasImages, rule.mode != .exact, !rule.comparesPixels,
      let pictures = bySink[SinkRule.Mode.pictures.rawValue], pictures.comparesPixels
    else { return rule }
    return rule.limitingImages(like: pictures)
  }

  /// The mode that suits a sink that receives only images.
  package var imageMode: SinkRule.Mode {
    bySink[SinkRule.Mode.pictures.rawValue] == nil ? .exact : .pictures
  }
}
