/// Decimal numbers with a fixed number of digits after the point, as integers: `"45.25"` with three
/// digits is 45,250. The conversion is exact: it does not round, and uses no floating point.
package enum FixedPoint {
  /// No number has more digits before its point.
  private static let wholeDigitsMax = 9

  /// Parses `"45"` or `"45.25"`; `nil` for any other form, such as one with a sign, and for more
  /// digits after the point.
  package static func parse(_ text: some StringProtocol, digits: Int) -> Int? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    let isPlain = parts.allSatisfy { part in
      (1...wholeDigitsMax).contains(part.utf8.count)
        && part.utf8.allSatisfy { (48...57).contains($0) }
    }
    guard isPlain, (1...2).contains(parts.count), var value = Int(parts[0]) else { return nil }
    let fraction = parts.count == 2 ? parts[1] : ""
    guard fraction.utf8.count <= digits else { return nil }
    for digit in fraction.utf8 { value = 10 * value + Int(digit - 48) }
    for _ in fraction.utf8.count..<digits { value *= 10 }
    return value
  }

  /// Parses a number with a unit, such as `"4.1K/W"`.
  package static func parse(
    _ text: some StringProtocol, unit: String, digits: Int
  ) -> Int? {
    guard text.hasSuffix(unit) else { return nil }
    return parse(text.dropLast(unit.count), digits: digits)
  }

  /// The shortest form, without zeros at the end.
  package static func text(_ value: Int, digits: Int) -> String {
    var text = padded(value, digits: digits)
    guard digits > 0 else { return text }
    while text.last == "0" { text.removeLast() }
    if text.last == "." { text.removeLast() }
    return text
  }

  /// With all digits after the point: `"45.250"`.
  package static func padded(_ value: Int, digits: Int) -> String {
    var text = String(value.magnitude)
    text = String(repeating: "0", count: max(0, digits + 1 - text.count)) + text
    if digits > 0 { text.insert(".", at: text.index(text.endIndex, offsetBy: -digits)) }
    return (value < 0 ? "-" : "") + text
  }

  /// A time in milliseconds, rounded to the nearest number with `digits` after the point, half away
  /// from zero: `"16.70"`.
  package static func milliseconds(_ nanoseconds: Int64, digits: Int) -> String {
    padded(Int(rounded(nanoseconds, droppingDigits: 6 - digits)), digits: digits)
  }

  /// A time in seconds, in the form of `milliseconds`.
  package static func seconds(_ nanoseconds: Int64, digits: Int) -> String {
    padded(Int(rounded(nanoseconds, droppingDigits: 9 - digits)), digits: digits)
  }

  private static func rounded(_ value: Int64, droppingDigits count: Int) -> Int128 {
    divideToNearest(Int128(value), by: (0..<count).reduce(1) { power, _ in 10 * power })
  }
}
