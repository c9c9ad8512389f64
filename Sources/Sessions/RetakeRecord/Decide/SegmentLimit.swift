import RetakeCore

/// The limit of a segment, as users write it: `60s`, `10m`, `500MB` or `2GB`.
package enum SegmentLimit: Hashable, Sendable {
  case duration(Duration)
  case bytes(Int64)

  /// - Returns: nil when the string is neither, or is less than one second or one megabyte.
  package init?(parsing text: String) {
    if let bytes = ByteCount.parse(text) {
      guard bytes >= 1_000_000 else { return nil }
      self = .bytes(bytes)
    } else if let duration = Self.duration(text) {
      guard duration >= .seconds(1) else { return nil }
      self = .duration(duration)
    } else {
      return nil
    }
  }

  private static func duration(_ text: String) -> Duration? {
    // `Duration(parsing:)` has no minutes. The bound keeps the product from overflowing.
    guard text.hasSuffix("m"), let minutes = Int64(text.dropLast()), (1...100_000).contains(minutes)
    else { return Duration(parsing: text) }
    return .seconds(60 * minutes)
  }
}

/// Bytes as users write them: `500MB`, `64MiB`.
package enum ByteCount {
  private static let units: [(suffix: String, scale: Int64)] = [
    ("KB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40),
  ]

  /// - Returns: nil when the string is neither 0 nor an integer with a unit.
  package static func parse(_ text: String) -> Int64? {
    if text == "0" { return 0 }
    for unit in units where text.hasSuffix(unit.suffix) {
      guard let count = Int64(text.dropLast(unit.suffix.count)), count >= 0 else { return nil }
      let (bytes, overflow) = count.multipliedReportingOverflow(by: unit.scale)
      return overflow ? nil : bytes
    }
    return nil
  }
}
