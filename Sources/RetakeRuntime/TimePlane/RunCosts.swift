import RetakeCore

/// Where the virtual costs of a run come from.
public struct RunCosts: Sendable {
  /// Recorded costs, before those that the pipeline declares.
  public var tape: CostTape?
  /// Scales costs, and says how many servers there are.
  public var profile: DeviceProfile?
  /// A cost that the tape does not have ends the run.
  public var isStrict = false
  /// On top of what the profile says.
  public var scale = DecimalRatio.one
  /// Measures each body, whose cost is then what it took.
  package var meter: CostMeter?

  /// What the pipeline declares; stages without a cost take none.
  public static let declared = RunCosts()

  /// Each body's own thread time: not the same in two runs, but a tape of it is.
  public static var measured: RunCosts {
    var costs = RunCosts.declared
    let clock = WallClock()
    costs.meter = CostMeter { clock.threadNanoseconds }
    return costs
  }

  public init(tape: CostTape? = nil, profile: DeviceProfile? = nil, isStrict: Bool = false) {
    self.tape = tape
    self.profile = profile
    self.isStrict = isStrict
  }

  /// As a golden names them: `declared`, `tape:1a2b3c4d`, `profile:slow-phone@5e6f7a8b`, or
  /// `tape:1a2b3c4d+profile:slow-phone@5e6f7a8b`. The digits are of the content.
  public var text: String {
    if meter != nil { return "measured" }
    let parts = [
      tape.map { "tape:\($0.digest.short)" },
      profile.map { "profile:\($0.name)@\($0.digest.short)" },
      scale == .one ? nil : "scale:\(scale)",
    ].compactMap(\.self)
    return parts.isEmpty ? "declared" : parts.joined(separator: "+")
  }
}
