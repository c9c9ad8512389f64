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
