/// A number of bytes for people.
///
/// All amounts of disk space and memory in messages have one of these forms. Only sizes that have to
/// be exact, such as those of a file that is one byte short, are written in bytes.
package enum ByteText {
  /// A measured amount, in powers of ten: `1.7 GB`.
  package static func of(_ bytes: some BinaryInteger) -> String {
    var (value, unit) = (Double(bytes), 0)
    // From 999.95 on one decimal rounds to 1000.0, which is 1.0 of the next unit.
    while value >= 999.95, unit < units.count - 1 {
      value /= 1_000
      unit += 1
    }
    guard unit > 0 else { return counted(bytes, "byte") }
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10) \(units[unit])"
  }

  /// A limit, as documents and options state it: `64 MiB`, or else `500.0 MB`.
  package static func limit(_ bytes: some BinaryInteger) -> String {
    let bytes = Int64(clamping: bytes)
    for (unit, shift) in [("GiB", 30), ("MiB", 20), ("KiB", 10)]
    where bytes > 0 && bytes % (1 << shift) == 0 {
      return "\(bytes >> shift) \(unit)"
    }
    return of(bytes)
  }

  private static let units = ["bytes", "kB", "MB", "GB", "TB"]
}
