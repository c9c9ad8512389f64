import RetakeCore

/// Samples one property of the device.
protocol DeviceSampler: Sendable {
  /// The current state; `nil` if the machine does not report it.
  mutating func sample() -> DeviceEvent?
}

/// Reports changes of the device between regular samples.
struct DeviceObserver: Sendable {
  private var samplers: [any DeviceSampler]
  private var last: [DeviceEvent?]

  init(_ samplers: [any DeviceSampler]) {
    self.samplers = samplers
    last = samplers.map { _ in nil }
  }

  /// The properties that this machine reports.
  static var standard: DeviceObserver {
    DeviceObserver([
      ThermalSampler(), TemperatureSampler(), MemorySampler(), PowerSampler(),
    ])
  }

  /// The events of the properties that have changed since the last call.
  mutating func changes() -> [DeviceEvent] {
    var changes: [DeviceEvent] = []
    for index in samplers.indices {
      // A property that cannot be read for a moment has not changed. The first sample is always
      // reported, so that the session has the state at its beginning.
      guard let event = samplers[index].sample(), event != last[index] else { continue }
      last[index] = event
      changes.append(event)
    }
    return changes
  }
}
