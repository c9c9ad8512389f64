/// The state of the battery.
public struct BatteryState: Hashable, Sendable {
  /// Percent, 0 to 100.
  public var level: Int
  /// Whether the battery charges. In recorded events also `true` for a full battery and on external
  /// power.
  public var isCharging: Bool
  /// Whether the user has enabled the device's power saving.
  public var isLowPower: Bool

  /// Ends the process if `level` is not 0 to 100.
  public init(level: Int, isCharging: Bool = false, isLowPower: Bool = false) {
    requirement((0...100).contains(level), "a battery's level is 0 to 100 percent")
    self.level = level
    self.isCharging = isCharging
    self.isLowPower = isLowPower
  }
}
