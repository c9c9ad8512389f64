/// A number of bytes for people, in powers of ten: `1.7 GB`.
package enum ByteText {
  package static func of(_ bytes: Int) -> String {
    var (value, unit) = (Double(bytes), 0)
    // From 999.95 on one decimal rounds to 1000.0, which is 1.0 of the next unit.
    while value >= 999.95, unit < units.count - 1 {
      value /= 1_000
      unit += 1
    }
    guard unit > 0 else { return "\(bytes) bytes" }
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10) \(units[unit])"
  }

  private static let units = ["bytes", "kB", "MB", "GB", "TB"]
}
