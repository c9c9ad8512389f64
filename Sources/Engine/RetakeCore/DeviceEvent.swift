/// A change of the device's state, on which a policy may depend.
public enum DeviceEvent: Hashable, Sendable {
  case thermal(ThermalState)
  /// How hot the device is where it is hottest, or where its sensor is.
  case temperature(Temperature)
  case memory(MemoryPressure)
  case battery(BatteryState)
  case orientation(DeviceOrientation)

  /// The source of device events in a session's event table.
  package static let source = "device"

  /// The kind of an event, as named in the session's event table.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    case thermal
    case temperature
    case memory
    case battery
    case orientation
  }

  /// Whether it says how hot the device is.
  package var isHeat: Bool { kind == .thermal || kind == .temperature }

  package var kind: Kind {
    switch self {
    case .thermal: .thermal
    case .temperature: .temperature
    case .memory: .memory
    case .battery: .battery
    case .orientation: .orientation
    }
  }
}

extension CaseIterable where Self: Equatable {
  func isBefore(_ other: Self) -> Bool {
    self != other && Self.allCases.first { $0 == self || $0 == other } == self
  }
}

extension Temperature {
  /// The temperature that limits are compared with, when a sensor that was at `last` reads this one.
  ///
  /// It is the play operator (backlash): all limits have the same hysteresis, and no limit needs to
  /// keep state.
  package func followed(from last: Temperature?, hysteresisMillidegrees: Int) -> Temperature {
    guard let last else { return self }
    return max(self, min(last, Temperature(millidegrees: millidegrees + hysteresisMillidegrees)))
  }
}
