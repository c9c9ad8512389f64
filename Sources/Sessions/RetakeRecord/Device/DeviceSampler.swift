import RetakeBuffers
import RetakeCore
import RetakeRuntime

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

/// Samples the device once a second, on its own thread, until it is stopped.
final class DeviceWatch: Sendable {
  private static let intervalNanoseconds: Int64 = 1_000_000_000

  private let stopped = Locked(false)
  private let condition = ThreadCondition()
  private let thread: NamedThread

  /// - Parameter note: Called for each change.
  /// - Throws: `RuntimeError.noThread`.
  init(
    _ observer: DeviceObserver = .standard, clock: any LiveClock,
    note: @escaping @Sendable (DeviceEvent) -> Void
  ) throws {
    thread = try NamedThread("retake-device") { [stopped, condition] in
      var observer = observer
      while !stopped.withLock({ $0 }) {
        for event in observer.changes() { note(event) }
        clock.wait(
          untilNanoseconds: clock.monotonicNanoseconds + Self.intervalNanoseconds, or: condition)
      }
    }
  }

  /// Returns when no further change will be reported.
  func stop() {
    stopped.withLock { $0 = true }
    condition.signal()
    thread.join()
  }
}
