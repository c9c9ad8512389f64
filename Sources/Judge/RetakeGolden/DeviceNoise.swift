package import RetakeCompare
import RetakeCore
package import RetakeGraph

/// The devices of a golden and a run, and the noise that was measured between them.
///
/// Devices round differently, so equal results are not expected from two of them. The tolerance of a
/// pair is a part of the golden; without it the two are not comparable.
package struct DeviceNoise {
  package static let advice =
    "accept the values of this device in addition with: retake accept --alternate; or fit a "
    + "tolerance for both devices with: retake golden calibrate"

  /// `another driver of 'faces': 1.3, the golden has 1.2`, for each field that differs.
  package let differences: [String]
  /// The run's devices, also of stages that the processor computes, where one of the two runs has a
  /// device.
  package let devices: [String: ModelDevice]
  private let golden: [String: ModelDevice]
  private let fits: [GoldenManifest.Fit]

  package init(_ manifests: (golden: GoldenManifest, actual: GoldenManifest)) {
    let (mine, theirs) = manifests
    // A stage that one pipeline lacks is a change of the pipeline, not of the device.
    let stages = Set(mine.devices.keys).union(theirs.devices.keys).filter { stage in
      stage.hasPrefix("swap:")
        || mine.pipeline.nodes.contains(stage) && theirs.pipeline.nodes.contains(stage)
    }
    func devices(_ manifest: GoldenManifest) -> [String: ModelDevice] {
      Dictionary(
        stages.map { ($0, manifest.devices[$0] ?? .processor) }, uniquingKeysWith: { $1 })
    }
    let (golden, actual) = (devices(mine), devices(theirs))
    (self.golden, self.devices) = (golden, actual)
    // Sorted, because the order of a Set differs from process to process.
    differences = stages.sorted().flatMap { stage in
      Self.differences(of: stage, golden[stage] ?? .processor, actual[stage] ?? .processor)
    }
    // The noise of one device with itself widened the rules when it was measured.
    fits =
      golden == actual
      ? (golden.isEmpty ? [] : mine.fitted.filter(\.devices.isEmpty))
      : mine.fitted.filter { $0.devices == actual }
  }

  private static func differences(
    of stage: String, _ golden: ModelDevice, _ actual: ModelDevice
  ) -> [String] {
    zip(golden.fields, actual.fields).compactMap { mine, theirs in
      guard mine.value != theirs.value else { return nil }
      func text(_ value: String?) -> String {
        guard let value else { return "none" }
        return mine.name == "engine" ? "\(value.prefix(12))…" : value
      }
      return "another \(mine.name) of '\(stage)': \(text(theirs.value)), "
        + "the golden has \(text(mine.value))"
    }
  }

  package var areSame: Bool { golden == devices }

  /// Whether the devices differ and no tolerance was fitted for them.
  package var isUnknown: Bool { !areSame && fits.isEmpty }

  /// `between card-a and card-b`, `on card-a`.
  package var place: String {
    areSame
      ? "on \(Self.text(of: golden))"
      : "between \(Self.text(of: golden)) and \(Self.text(of: devices))"
  }

  private static func text(of devices: [String: ModelDevice]) -> String {
    let texts = devices.sorted { $0.key < $1.key }.map { ($0.key, $0.value.description) }
    guard let first = texts.first?.1 else { return "the processor" }
    return texts.allSatisfy { $0.1 == first }
      ? first : texts.map { "\($0.1) ('\($0.0)')" }.joined(separator: " and ")
  }

  /// The rules with the tolerances that were fitted for the two devices.
  func widened(_ rules: CompareRules) -> CompareRules {
    var rules = rules
    for fit in fits {
      guard let path = SinkRule.fittable[fit.quantity] else { continue }
      var rule = rules.rule(for: fit.sink)
      rule[keyPath: path] = max(rule[keyPath: path], fit.allowed)
      rules.bySink[fit.sink] = rule
    }
    return rules
  }

  /// How much of the measured noise each largest difference is.
  func notes(_ headroom: [ErrorHeadroom]) -> [String] {
    fits.compactMap { fit in
      guard fit.largest > 0,
        let error = headroom.first(where: { $0.sink == fit.sink && $0.quantity == fit.quantity })?
          .largest, error > 0
      else { return nil }
      let share = error / fit.largest
      let text = FixedDecimal(share, decimals: share < 9.95 ? 1 : 0).text
      return "\(fit.sink).\(fit.quantity): the largest difference is \(text) x the noise measured "
        + "\(place) (\(JSONValue.number(fit.largest).canonicalText))"
    }
  }
}

extension SinkRule {
  /// The tolerances that are fitted, by the quantities whose errors are measured.
  package static let fittable: [String: any WritableKeyPath<SinkRule, Double> & Sendable] = [
    "position": \.position, "score": \.score, "scalar": \.scalar, "mask": \.maskErrorMax,
    "embedding": \.cosineMax,
  ]
}
