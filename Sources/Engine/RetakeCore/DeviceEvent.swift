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

/// How hot the device is; later cases are hotter.
public enum ThermalState: String, Hashable, Sendable, Codable, CaseIterable, Comparable {
  case nominal
  case fair
  case serious
  case critical

  public static func < (left: Self, right: Self) -> Bool { left.isBefore(right) }
}

/// How short of memory the device is; later cases are shorter.
public enum MemoryPressure: String, Hashable, Sendable, Codable, CaseIterable, Comparable {
  case normal
  case warning
  case critical

  public static func < (left: Self, right: Self) -> Bool { left.isBefore(right) }
}

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

/// How the device is held.
public enum DeviceOrientation: String, Hashable, Sendable, Codable, CaseIterable {
  case portrait
  case portraitUpsideDown
  case landscapeLeft
  case landscapeRight
}

extension CaseIterable where Self: Equatable {
  fileprivate func isBefore(_ other: Self) -> Bool {
    self != other && Self.allCases.first { $0 == self || $0 == other } == self
  }
}

/// A device event with its time.
public struct TimedDeviceEvent: Hashable, Sendable {
  /// The index in the session's event table.
  public var ordinal: Int
  /// On the session's time line, not shifted, like presentation times.
  public var timestamp: Timestamp
  /// What changed; the other states of the device stay as they were.
  public var event: DeviceEvent

  /// An event for a `FrameReader` of your own. None of the values is checked.
  public init(ordinal: Int, timestamp: Timestamp, event: DeviceEvent) {
    self.ordinal = ordinal
    self.timestamp = timestamp
    self.event = event
  }
}

/// What is known about the device at an instant; `nil` for a state that was never reported.
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

  /// Nothing is known.
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

extension Temperature {
  /// The temperature that limits are compared with, when a sensor that was at `last` reads this one.
  ///
  /// It is the play operator (backlash): all limits have the same hysteresis, and no limit needs a
  /// memory of its own.
  package func followed(from last: Temperature?, hysteresisMillidegrees: Int) -> Temperature {
    guard let last else { return self }
    return max(self, min(last, Temperature(millidegrees: millidegrees + hysteresisMillidegrees)))
  }
}
