import Foundation
import RetakeCore

/// The device's thermal state, from Linux's thermal zones. Each zone's temperature is compared with
/// the trip points of its driver; the hottest zone counts.
///
/// Source: Documentation/driver-api/thermal/sysfs-api.rst of the Linux kernel. Temperatures are in
/// thousandths of a degree Celsius.
struct ThermalSampler: DeviceSampler {
  private let zones: ThermalZones
  private var last = ThermalState.nominal

  /// Limits for a zone without trip points.
  static let standard = Limits(fair: 70_000, serious: 85_000, critical: 95_000)
  /// A zone is fair from this far below the temperature at which the system begins to throttle.
  static let fairMargin = 10_000
  /// A zone is critical from this far below the temperature at which the system shuts down.
  static let criticalMargin = 5_000
  /// A state ends only this far below the limit at which it began.
  static let hysteresis = 2_000

  struct Limits: Hashable, Sendable {
    var fair: Int
    var serious: Int
    var critical: Int

    func state(at temperature: Int) -> ThermalState {
      if temperature >= critical { return .critical }
      if temperature >= serious { return .serious }
      return temperature >= fair ? .fair : .nominal
    }
  }

  init(root: String = ThermalZones.defaultRoot) {
    zones = ThermalZones(root: root)
  }

  mutating func sample() -> DeviceEvent? {
    var hottest: ThermalState?
    for (zone, temperature) in zones.readings {
      let limits = limits(of: zone)
      var state = limits.state(at: temperature)
      if state < last { state = min(last, limits.state(at: temperature + Self.hysteresis)) }
      hottest = max(hottest ?? state, state)
    }
    guard let hottest else { return nil }
    last = hottest
    return .thermal(hottest)
  }

  private func limits(of zone: String) -> Limits {
    var (passive, critical): (Int?, Int?)
    // Bounded: a zone has a few trip points, counted from 0.
    for trip in 0..<16 {
      guard let kind = zones.text("\(zone)/trip_point_\(trip)_type") else { break }
      guard let temperature = zones.integer("\(zone)/trip_point_\(trip)_temp"), temperature > 0
      else {
        continue
      }
      switch kind {
      case "passive", "hot": passive = min(passive ?? temperature, temperature)
      case "critical": critical = min(critical ?? temperature, temperature)
      default: break
      }
    }
    let standard = Self.standard
    // A zone that throttles above the default critical limit must not be critical before that.
    let end = critical.map { $0 - Self.criticalMargin } ?? max(standard.critical, passive ?? 0)
    let serious = min(passive ?? standard.serious, end)
    return Limits(fair: serious - Self.fairMargin, serious: serious, critical: end)
  }
}

/// The temperature of the hottest thermal zone, for rules in degrees. A change of less than a degree
/// is not reported, so that a session has few such events.
struct TemperatureSampler: DeviceSampler {
  /// Thousandths of a degree.
  static let step = 1_000

  private let zones: ThermalZones
  private var last: Temperature?

  init(root: String = ThermalZones.defaultRoot) {
    zones = ThermalZones(root: root)
  }

  mutating func sample() -> DeviceEvent? {
    // A zone whose sensor is off may read absolute zero, or the largest number of its register.
    let readings = zones.readings.map { Temperature(millidegrees: $0.millidegrees) }
      .filter(Temperature.range.contains)
    guard let hottest = readings.max() else { return nil }
    if let last, abs(hottest.millidegrees - last.millidegrees) < Self.step {
      return .temperature(last)
    }
    last = hottest
    return .temperature(hottest)
  }
}

/// The thermal zones of Linux. Temperatures are in thousandths of a degree Celsius.
struct ThermalZones: Sendable {
  static let defaultRoot = "/sys/class/thermal"

  let root: String

  /// The zones that report a temperature, by name.
  var readings: [(zone: String, millidegrees: Int)] {
    let entries = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    return entries.sorted().filter { $0.hasPrefix("thermal_zone") }.compactMap { zone in
      integer("\(zone)/temp").map { (zone, $0) }
    }
  }

  func integer(_ file: String) -> Int? { text(file).flatMap { Int($0) } }
  func text(_ file: String) -> String? { DeviceFile.text("\(root)/\(file)") }
}
