/// A decimal number as an exact fraction. Virtual costs are scaled by it, without floating point.
///
/// At most 1000, with at most six digits after the point, and never negative.
package struct DecimalRatio: Hashable, Sendable, CustomStringConvertible {
  /// The number times a million, which is always an integer.
  package let millionths: Int64

  package static let one = DecimalRatio(millionths: denominator)
  /// The valid range in words, for messages about other numbers.
  package static let rangeText = "a number from 0 to 1000 with at most six digits after the point"

  private static let denominator: Int64 = 1_000_000
  private static let decimalsMax = 6
  private static let wholeMax: Int64 = 1_000

  private init(millionths: Int64) {
    self.millionths = millionths
  }

  /// Parses `"2"` or `"3.25"`; `nil` for any other form and for numbers out of range.
  package init?(parsing text: some StringProtocol) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    // `Int64(_:)` alone would accept a sign.
    let isPlain = parts.allSatisfy { part in
      !part.isEmpty && part.utf8.allSatisfy { (48...57).contains($0) }
    }
    guard isPlain, (1...2).contains(parts.count), let whole = Int64(parts[0]),
      whole <= Self.wholeMax
    else { return nil }
    var millionths = whole * Self.denominator
    if parts.count == 2 {
      guard parts[1].utf8.count <= Self.decimalsMax, var fraction = Int64(parts[1]) else {
        return nil
      }
      for _ in parts[1].utf8.count..<Self.decimalsMax { fraction *= 10 }
      millionths += fraction
    }
    // 1000 is in range, 1000.5 is not.
    guard millionths <= Self.wholeMax * Self.denominator else { return nil }
    self.millionths = millionths
  }

  /// A number of a document. A `Double` stands for the shortest decimal that parses to it. That is
  /// the decimal that was written, if it is in range.
  package init?(_ json: JSONValue) {
    switch json {
    case .integer(let value): self.init(parsing: "\(value)")
    case .number(let value): self.init(parsing: "\(value)")
    default: return nil
    }
  }

  /// The shortest decimal: `"2"`, `"3.25"`.
  package var description: String {
    let fraction = millionths % Self.denominator
    guard fraction > 0 else { return "\(millionths / Self.denominator)" }
    let digits = String(fraction)
    let padded = String(repeating: "0", count: Self.decimalsMax - digits.count) + digits
    let trimmed = padded.reversed().drop { $0 == "0" }.reversed()
    return "\(millionths / Self.denominator).\(String(trimmed))"
  }

  /// `value` times all ratios, rounded once: to the nearest integer, half away from zero, and at
  /// most `limit`.
  package static func scale(_ value: Int64, by ratios: DecimalRatio..., atMost limit: Int64)
    -> Int64
  {
    precondition(value >= 0 && limit >= 0, "a cost is not negative")
    let factors = ratios.filter { $0 != .one }
    // Checked first: if the other factors overflowed before, the answer would be the limit instead
    // of 0.
    guard !factors.contains(where: { $0.millionths == 0 }) else { return 0 }
    var product = Int128(value)
    var divisor: Int128 = 1
    for factor in factors {
      let (next, isTooLarge) = product.multipliedReportingOverflow(by: Int128(factor.millionths))
      divisor *= Int128(Self.denominator)
      // Beyond 127 bits the quotient is far above 64 bits: there are at most four factors.
      if isTooLarge { return limit }
      product = next
    }
    precondition(factors.count <= 4, "four ratios at most keep the divisor small")
    return Int64(min(divideToNearest(product, by: divisor), Int128(limit)))
  }
}
