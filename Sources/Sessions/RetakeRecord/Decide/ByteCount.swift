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
