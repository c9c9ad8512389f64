import Foundation

/// Real time. Nothing else in Retake reads it, and no value or decision of a replay depends on it.
public struct WallClock: Sendable {
  public init() {}

  /// Nanoseconds on a clock that never goes back, from an origin of its own.
  public var monotonicNanoseconds: Int64 { Int64(DispatchTime.now().uptimeNanoseconds) }

  /// Today's date in UTC, as `2026-11-21`.
  public var dateText: String { String(timeText.prefix(10)) }

  /// The time of day in UTC, as ISO 8601 text: `2026-11-21T09:30:00Z`.
  public var timeText: String {
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
