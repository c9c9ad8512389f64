/// The device's state at an instant. A property is `nil` if the device has not reported it.
package struct DeviceState: Hashable, Sendable {
  /// The state of the latest thermal event.
  package var thermal: ThermalState?
  /// The latest temperature that the device reached, with hysteresis: it follows a rise at once, and
  /// a fall only from `hysteresis` on. So a limit that was reached ends only this far below it.
  package var temperature: Temperature?
  /// The state of the latest memory event.
  package var memory: MemoryPressure?
  /// The state of the latest battery event.
  package var battery: BatteryState?
  /// The state of the latest orientation event.
  package var orientation: DeviceOrientation?

  /// A state without any report.
  package init() {}

  /// Thousandths of a degree by which a temperature must fall before a limit that it reached ends.
  package static let hysteresisMillidegrees = 2_000

  package mutating func apply(
    _ event: DeviceEvent, hysteresisMillidegrees: Int = Self.hysteresisMillidegrees
  ) {
    switch event {
    case .thermal(let state): thermal = state
    case .temperature(let reading):
      temperature = reading.followed(
        from: temperature, hysteresisMillidegrees: hysteresisMillidegrees)
    case .memory(let pressure): memory = pressure
    case .battery(let state): battery = state
    case .orientation(let side): orientation = side
    }
  }
}
