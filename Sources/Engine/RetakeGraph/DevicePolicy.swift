package import RetakeCore

/// How many frames per second a throttle passes, depending on the state of the device.
///
/// The lowest rate applies: the throttle's own rate, or the rate of a matching rule. A state that
/// the device has never reported matches no rule.
public struct DevicePolicy: Hashable, Sendable {
  /// Frames per second while no rule requires fewer; 0 = no limit.
  public var fps: Double
  /// Limits for states of the device, in any order; a throttle accepts at most 64.
  public var rules: [DeviceRule]

  /// The values are not checked here. A throttle refuses an `fps` below 0 or above 1,000, and
  /// accepts 0 only together with rules.
  public init(fps: Double, rules: [DeviceRule] = []) {
    self.fps = fps
    self.rules = rules
  }

  /// Frames per second in this state; 0 = no limit.
  package func fps(in state: DeviceState) -> Double {
    let limits = [fps] + rules.filter { $0.matches(state) }.map(\.fps)
    // 0 means no limit, and would otherwise be the lowest rate.
    return limits.filter { $0 > 0 }.min() ?? 0
  }
}
