import Foundation

/// Real time. No value or decision of a replay depends on it. Only the timeouts of `RetakeClock`,
/// which imports no module of Retake, read a clock without this type.
package struct WallClock: Sendable {
  package init() {}

  /// Nanoseconds on a monotonic clock, with an arbitrary origin.
  package var monotonicNanoseconds: Int64 { Self.read(Self.monotonic) }

  /// Processor time of the calling thread.
  package var threadNanoseconds: Int64 { Self.read(CLOCK_THREAD_CPUTIME_ID) }

  /// Today's date in UTC, as `2026-11-21`.
  package var dateText: String { String(timeText.prefix(10)) }

  /// The time of day in UTC, as ISO 8601 text: `2026-11-21T09:30:00Z`.
  package var timeText: String {
    var seconds = time(nil)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    let date = [Int(parts.tm_year) + 1_900, Int(parts.tm_mon) + 1, Int(parts.tm_mday)]
    let day = [Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec)]
    return date.map(Self.twoDigits).joined(separator: "-") + "T"
      + day.map(Self.twoDigits).joined(separator: ":") + "Z"
  }

  private static func twoDigits(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
}

extension WallClock: LiveClock {
  package func wait(untilNanoseconds deadline: Int64, or condition: ThreadCondition) {
    condition.wait(untilNanoseconds: deadline, nowNanoseconds: monotonicNanoseconds)
  }

  /// The number of readings from which an anchor is chosen.
  private static let anchorReadings = 5

  package func anchor() -> WallAnchor {
    let readings = (0..<Self.anchorReadings).map { _ in reading() }
    return readings.min { $0.uncertaintyNanoseconds < $1.uncertaintyNanoseconds } ?? reading()
  }

  private func reading() -> WallAnchor {
    let before = monotonicNanoseconds
    let unix = Self.read(CLOCK_REALTIME)
    let after = monotonicNanoseconds
    return WallAnchor(
      monotonicNanoseconds: before + (after - before) / 2, unixNanoseconds: unix,
      bootNanoseconds: Self.read(Self.sinceBoot), uncertaintyNanoseconds: (after - before + 1) / 2)
  }

  private static func read(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  #if canImport(Darwin)
    private static let monotonic = CLOCK_UPTIME_RAW
    private static let sinceBoot = CLOCK_MONOTONIC_RAW
  #else
    private static let monotonic = CLOCK_MONOTONIC
    private static let sinceBoot = CLOCK_BOOTTIME
  #endif
}
