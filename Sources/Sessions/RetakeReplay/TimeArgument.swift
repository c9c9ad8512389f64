import RetakeCore

/// Times as users write them, in options and in overrides.
package enum TimeArgument {
  /// At most a hundred days: `2s`, `500ms`, `2m`, `1h`; seconds without a unit, `12.5`; and clocks, `1:30` or `1:02:03.5`.
  package static func parse(_ text: String) -> Duration? {
    read(text).flatMap { $0 <= .seconds(countMax) ? $0 : nil }
  }

  private static func read(_ text: String) -> Duration? {
    if let duration = Duration(parsing: text) { return duration }
    if text.contains(":") { return clock(text) }
    if let unit = text.last, let seconds = secondsByUnit[unit] {
      return whole(text.dropLast()).map { .seconds(seconds * $0) }
    }
    return decimal(text[...])
  }

  package static let advice = "use for example 2s, 500ms, 1:30 or 12.5 (seconds), at most 2400h"

  private static let secondsByUnit: [Character: Int64] = ["m": 60, "h": 3_600]

  /// A hundred days, in seconds.
  private static let countMax: Int64 = 100 * 86_400

  private static func whole(_ text: Substring) -> Int64? {
    // Int64 would also accept a sign.
    guard !text.isEmpty, text.allSatisfy({ $0.isASCII && $0.isNumber }), let value = Int64(text),
      value <= countMax
    else { return nil }
    return value
  }

  /// Seconds with at most nine decimals.
  private static func decimal(_ text: Substring) -> Duration? {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let seconds = whole(parts[0]) else { return nil }
    guard parts.count == 2 else { return .seconds(seconds) }
    guard (1...9).contains(parts[1].count), parts[1].allSatisfy({ $0.isASCII && $0.isNumber }),
      let nanoseconds = Int64(parts[1] + String(repeating: "0", count: 9 - parts[1].count))
    else { return nil }
    return .seconds(seconds) + .nanoseconds(nanoseconds)
  }

  private static func clock(_ text: String) -> Duration? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard (2...3).contains(parts.count), let rest = decimal(parts[parts.count - 1]),
      rest < .seconds(60)
    else { return nil }
    var minutes: Int64 = 0
    for part in parts.dropLast() {
      guard let value = whole(part) else { return nil }
      minutes = minutes * 60 + value
    }
    // With hours, equal only if the minutes are below 60. Without them, 90:00 is ninety minutes.
    guard parts.count == 2 || minutes % 60 == whole(parts[1]) else { return nil }
    return .seconds(60 * minutes) + rest
  }
}
