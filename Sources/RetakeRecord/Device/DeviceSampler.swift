import RetakeBuffers
import RetakeCore
import RetakeRuntime

/// Looks at one thing of the device.
protocol DeviceSampler: Sendable {
  /// What it is like now; `nil` where the machine does not say.
  mutating func sample() -> DeviceEvent?
}

/// Says what changes on the device, from looks taken at even distances.
struct DeviceObserver: Sendable {
  private var samplers: [any DeviceSampler]
  private var last: [DeviceEvent?]

  init(_ samplers: [any DeviceSampler]) {
    self.samplers = samplers
    last = samplers.map { _ in nil }
  }

  /// What this machine has.
  static var standard: DeviceObserver {
    DeviceObserver([ThermalSampler(), MemorySampler(), PowerSampler()])
  }

  /// What is not as it was at the last look.
  mutating func changes() -> [DeviceEvent] {
    var changes: [DeviceEvent] = []
    for index in samplers.indices {
      guard let event = samplers[index].sample(), event != last[index] else { continue }
      last[index] = event
      changes.append(event)
    }
    return changes
  }
}

/// Looks at the device once a second, on a thread of its own, until it is stopped.
final class DeviceWatch: Sendable {
  private static let intervalNanoseconds: Int64 = 1_000_000_000

  private let stopped = Locked(false)
  private let bell = Bell()
  private let thread: NamedThread

  /// - Parameter note: Told of each change.
  /// - Throws: `RuntimeError.noThread`.
  init(
    _ observer: DeviceObserver = .standard, clock: any LiveClock,
    note: @escaping @Sendable (DeviceEvent) -> Void
  ) throws(RuntimeError) {
    thread = try NamedThread("retake-device") { [stopped, bell] in
      var observer = observer
      while !stopped.withLock({ $0 }) {
        for event in observer.changes() { note(event) }
        clock.wait(
          untilNanoseconds: clock.monotonicNanoseconds + Self.intervalNanoseconds, or: bell)
      }
    }
  }

  /// Returns when nothing more is noted.
  func stop() {
    stopped.withLock { $0 = true }
    bell.ring()
    thread.join()
  }
}
