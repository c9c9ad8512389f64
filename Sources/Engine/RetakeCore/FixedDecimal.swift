/// A number rounded to 10^-decimals, as in results files.
///
/// It is stored as an integer number of steps in a `Double`. A `Double` exactly represents every
/// rounded product of a `Double` and a power of ten, and also NaN and the infinities. NaN equals
/// NaN, and there is no negative zero.
package struct FixedDecimal: Sendable {
  /// The value in steps: an integer, NaN or infinite.
  package let units: Double
  /// Digits after the point, 0 to 9.
  package let decimals: UInt8

  /// `value × 10^decimals`, rounded half to even.
  package init(_ value: Double, decimals: Int) {
    self.init(
      units: (value * Self.powers[decimals]).rounded(.toNearestOrEven),
      decimals: UInt8(truncatingIfNeeded: decimals))
  }

  init(units: Double, decimals: UInt8) {
    self.units = units + 0  // -0 + 0 is 0
    self.decimals = decimals
  }

  /// The number, rounded to a `Double`.
  package var value: Double { units / Self.powers[Int(decimals)] }

  /// The form in a results file: always `decimals` digits after the point, or `nan`, `inf`, `-inf`.
  package var text: String {
    var buffer = TextBuffer(capacity: 32)
    buffer.append(self)
    return buffer.text
  }

  /// Powers of ten are exact in a `Double` up to 10^22.
  static let powers: [Double] = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]
}

extension FixedDecimal: Hashable {
  /// Numbers with the same written form are equal: NaN and the infinities have no decimals.
  package static func == (left: FixedDecimal, right: FixedDecimal) -> Bool {
    if left.units == right.units { return left.decimals == right.decimals || !left.units.isFinite }
    return left.units.isNaN && right.units.isNaN
  }

  package func hash(into hasher: inout Hasher) {
    // All NaNs are equal here, and equal values need equal hashes; the bits of NaNs differ.
    hasher.combine(units.isNaN ? Double.nan.bitPattern : units.bitPattern)
    if units.isFinite { hasher.combine(decimals) }
  }

  /// −1, 0 or 1 in the canonical order: by value, NaN last.
  func order(against other: FixedDecimal) -> Int {
    if units < other.units { return -1 }
    if units > other.units { return 1 }
    return (units.isNaN ? 1 : 0) - (other.units.isNaN ? 1 : 0)
  }
}

extension FixedDecimal {
  /// A number with the given steps and the decimals of another number.
  package init(units: Double, like other: FixedDecimal) {
    self.init(units: units, decimals: other.decimals)
  }
}
