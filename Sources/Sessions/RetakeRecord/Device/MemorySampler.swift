import RetakeCore

/// Memory pressure of the device, from Linux's pressure stall information: the share of the last
/// ten seconds in which some task, or every task, waited for memory.
///
/// Source: Documentation/accounting/psi.rst of the Linux kernel.
struct MemorySampler: DeviceSampler {
  private let path: String
  private var last = MemoryPressure.normal

  /// Percentage of the time in which some task waited.
  static let warningPercent = 10.0
  /// Percentage of the time in which all tasks waited.
  static let criticalPercent = 10.0
  /// A state ends below this fraction of the percentage at which it began.
  static let hysteresis = 0.5

  init(path: String = "/proc/pressure/memory") {
    self.path = path
  }

  mutating func sample() -> DeviceEvent? {
    guard let text = DeviceFile.text(path), let some = Self.average("some", in: text) else {
      return nil
    }
    let full = Self.average("full", in: text) ?? 0
    var pressure = Self.pressure(some: some, full: full)
    if pressure < last {
      pressure = min(
        last, Self.pressure(some: some / Self.hysteresis, full: full / Self.hysteresis))
    }
    last = pressure
    return .memory(pressure)
  }

  private static func pressure(some: Double, full: Double) -> MemoryPressure {
    if full >= criticalPercent { return .critical }
    return some >= warningPercent ? .warning : .normal
  }

  /// `some avg10=1.53 avg60=0.87 avg300=0.28 total=58761459`
  private static func average(_ word: String, in text: String) -> Double? {
    for line in text.split(separator: "\n") {
      let fields = line.split(separator: " ")
      guard fields.first.map(String.init) == word,
        let field = fields.first(where: { $0.hasPrefix("avg10=") })
      else { continue }
      return Double(field.dropFirst("avg10=".count))
    }
    return nil
  }
}
