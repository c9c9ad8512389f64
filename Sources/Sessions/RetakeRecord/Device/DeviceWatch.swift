import RetakeBuffers
import RetakeCore
import RetakeRuntime

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
