public import RetakeCore

/// A limit that applies while the device is in a state. If there are several conditions, all of
/// them must hold.
public struct DeviceRule: Hashable, Sendable {
  /// Applies at this thermal state and above.
  public var thermal: ThermalState?
  /// Applies at this temperature and above, and ends 2 °C below it (a device profile may say another
  /// difference).
  public var temperature: Temperature?
  /// Applies at this memory pressure and above.
  public var memory: MemoryPressure?
  /// `nil` sets no condition, as for the other properties.
  public var battery: BatteryCondition?
  /// Applies while the device is held in exactly this way.
  public var orientation: DeviceOrientation?
  /// Frames per second, above 0.
  public var fps: Double

  /// A condition for the battery. If several properties are set, all of them must hold.
  public struct BatteryCondition: Hashable, Sendable {
    /// Percent; the level must be lower.
    public var below: Int?
    /// Whether the battery must be charging; `nil` allows both.
    public var charging: Bool?
    /// Whether the user must have enabled power saving; `nil` allows both.
    public var lowPower: Bool?

    /// A throttle refuses a `below` outside 1 to 100, and a condition without any property.
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

  /// The values are not checked here. A throttle refuses a rule without a condition, and an `fps`
  /// that is not above 0 and at most 1,000.
  public init(
    thermal: ThermalState? = nil, temperature: Temperature? = nil, memory: MemoryPressure? = nil,
    battery: BatteryCondition? = nil, orientation: DeviceOrientation? = nil, fps: Double
  ) {
    self.thermal = thermal
    self.temperature = temperature
    self.memory = memory
    self.battery = battery
    self.orientation = orientation
    self.fps = fps
  }

  /// Whether every condition holds. A rule without a condition never matches.
  package func matches(_ state: DeviceState) -> Bool {
    let conditions = [
      thermal.map { wanted in state.thermal.map { $0 >= wanted } ?? false },
      temperature.map { wanted in state.temperature.map { $0 >= wanted } ?? false },
      memory.map { wanted in state.memory.map { $0 >= wanted } ?? false },
      battery.map { wanted in state.battery.map { wanted.matches($0) } ?? false },
      orientation.map { state.orientation == $0 },
    ].compactMap(\.self)
    return !conditions.isEmpty && conditions.allSatisfy(\.self)
  }
}
