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
    var fraction = String(value.magnitude)
    while fraction.count <= digits { fraction = "0" + fraction }
    let whole = String(fraction.dropLast(digits))
    fraction = String(fraction.suffix(digits))
    while fraction.last == "0" { fraction.removeLast() }
    return (value < 0 ? "-" : "") + whole + (fraction.isEmpty ? "" : "." + fraction)
  }
}
