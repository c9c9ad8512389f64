import RetakeCore

/// How many frames a second a throttle lets through, by the state of the device.
///
/// The lowest rate counts: the throttle's own, and that of every rule that matches. What the device
/// never said matches no rule.
public struct DevicePolicy: Hashable, Sendable {
  /// Frames a second while no rule asks for fewer; 0 = no limit.
  public var fps: Double
  public var rules: [DeviceRule]

  public init(fps: Double, rules: [DeviceRule] = []) {
    self.fps = fps
    self.rules = rules
  }

  /// Frames a second in this state; 0 = no limit.
  public func fps(in state: DeviceState) -> Double {
    let limits = [fps] + rules.filter { $0.matches(state) }.map(\.fps)
    return limits.filter { $0 > 0 }.min() ?? 0
  }
}

/// A limit that holds while the device is in a state. With several conditions all must hold.
public struct DeviceRule: Hashable, Sendable {
  /// Holds at this heat and above.
  public var thermal: ThermalState?
  /// Holds at this pressure and above.
  public var memory: MemoryPressure?
  public var battery: BatteryCondition?
  public var orientation: DeviceOrientation?
  /// Frames a second, above 0.
  public var fps: Double

  /// What a battery must be like. With several conditions all must hold.
  public struct BatteryCondition: Hashable, Sendable {
    /// Percent; the level must be lower.
    public var below: Int?
    public var charging: Bool?
    public var lowPower: Bool?

    public init(below: Int? = nil, charging: Bool? = nil, lowPower: Bool? = nil) {
      self.below = below
      self.charging = charging
      self.lowPower = lowPower
    }

    func matches(_ state: BatteryState) -> Bool {
      below.map { state.level < $0 } ?? true
        && charging.map { state.isCharging == $0 } ?? true
        && lowPower.map { state.isLowPower == $0 } ?? true
    }
  }

  public init(
    thermal: ThermalState? = nil, memory: MemoryPressure? = nil, battery: BatteryCondition? = nil,
    orientation: DeviceOrientation? = nil, fps: Double
  ) {
    self.thermal = thermal
    self.memory = memory
    self.battery = battery
    self.orientation = orientation
    self.fps = fps
  }

  /// Whether every condition holds; there is one at least.
  public func matches(_ state: DeviceState) -> Bool {
    let conditions = [
      thermal.map { wanted in state.thermal.map { $0 >= wanted } ?? false },
      memory.map { wanted in state.memory.map { $0 >= wanted } ?? false },
      battery.map { wanted in state.battery.map { wanted.matches($0) } ?? false },
      orientation.map { state.orientation == $0 },
    ].compactMap(\.self)
    return !conditions.isEmpty && conditions.allSatisfy(\.self)
  }
}
