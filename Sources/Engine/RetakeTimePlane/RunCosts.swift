package import RetakeCore

/// The origin of a run's virtual costs.
package struct RunCosts: Sendable {
  /// Recorded costs, which take precedence over the costs that the pipeline declares.
  package var timings: RecordedTimings?
  /// Scales costs, and sets the numbers of servers.
  package var profile: DeviceProfile?
  /// Whether a cost that is missing in the timings ends the run.
  package var isStrict = false
  /// Applied in addition to the profile's factors.
  package var scale = DecimalRatio.one
  /// Measures each body; the measured time is its cost.
  package var meter: CostMeter?

  /// The costs that the pipeline declares; stages without a cost have a duration of zero.
  package static let declared = RunCosts()

  package init(
    timings: RecordedTimings? = nil, profile: DeviceProfile? = nil, isStrict: Bool = false
  ) {
    self.timings = timings
    self.profile = profile
    self.isStrict = isStrict
  }

  /// The name in a golden: `declared`, `timings:1a2b3c4d`, `profile:slow-phone@5e6f7a8b`, or
  /// `timings:1a2b3c4d+profile:slow-phone@5e6f7a8b`. The digits are a digest of the content.
  package var text: String {
    if meter != nil { return "measured" }
    let parts = [
      timings.map { "timings:\($0.digest.short)" },
      profile.map { "profile:\($0.name)@\($0.digest.short)" },
      scale == .one ? nil : "scale:\(scale)",
    ].compactMap(\.self)
    return parts.isEmpty ? "declared" : parts.joined(separator: "+")
  }
}
