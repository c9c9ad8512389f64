import Foundation

/// Real time. Nothing else in Retake reads it, and no value or decision of a replay depends on it.
public struct WallClock: Sendable {
  public init() {}

  /// Nanoseconds on a clock that never goes back, from an origin of its own.
  public var monotonicNanoseconds: Int64 { Int64(DispatchTime.now().uptimeNanoseconds) }

  /// Today's date in UTC, as `2026-11-21`.
  public var dateText: String {
    Date.now.formatted(.iso8601.year().month().day().dateSeparator(.dash))
  }

  /// The time of day in UTC, as ISO 8601 text.
  public var timeText: String { Date.now.formatted(.iso8601) }
}
