/// A point on a session's time line, in integer nanoseconds from the session's origin.
///
/// Negative values are allowed: a frame may be earlier than the origin that a case selects.
public struct Timestamp: Hashable, Comparable, Sendable, Codable {
  /// From the origin; negative before it.
  public var nanoseconds: Int64

  /// The origin itself.
  public static let zero = Timestamp(nanoseconds: 0)

  /// The point at this distance from the origin; negative before it.
  public init(nanoseconds: Int64) {
    self.nanoseconds = nanoseconds
  }

  /// The instant of a presentation time: `pts × timeBase`, to the nearest nanosecond, half away
  /// from zero, computed with 128 bits. `nil` if the result does not fit in 64 bits.
  public init?(pts: Int64, timeBase: TimeBase) {
    self.init(pts: pts, timeBase: timeBase, movedBackBy: 0)
  }

  /// The instant of a presentation time, earlier by `shift` nanoseconds: for times that fit in 64
  /// bits only after the shift.
  package init?(pts: Int64, timeBase: TimeBase, movedBackBy shift: Int128) {
    let value = Self.exactNanoseconds(pts: pts, timeBase: timeBase) - shift
    guard let nanoseconds = Int64(exactly: value) else { return nil }
    self.nanoseconds = nanoseconds
  }

  /// The instant of a presentation time in nanoseconds, of any size.
  package static func exactNanoseconds(pts: Int64, timeBase: TimeBase) -> Int128 {
    // Below 2^63 × 2^31 × 2^30, so 128 bits hold every product.
    let product = Int128(pts) * Int128(timeBase.numerator) * 1_000_000_000
    return divideToNearest(product, by: Int128(timeBase.denominator))
  }

  /// Whether `left` is earlier than `right`.
  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.nanoseconds < right.nanoseconds
  }

  /// The point that is `right` nanoseconds later. An overflow ends the process.
  public static func + (left: Timestamp, right: Int64) -> Timestamp {
    Timestamp(nanoseconds: left.nanoseconds + right)
  }

  /// The distance in nanoseconds.
  public static func - (left: Timestamp, right: Timestamp) -> Int64 {
    left.nanoseconds - right.nanoseconds
  }

  /// The point that is `right` nanoseconds earlier. An overflow ends the process.
  public static func - (left: Timestamp, right: Int64) -> Timestamp {
    Timestamp(nanoseconds: left.nanoseconds - right)
  }
}

/// `value / divisor` to the nearest integer, half away from zero. `divisor` must be positive.
package func divideToNearest(_ value: Int128, by divisor: Int128) -> Int128 {
  requirement(divisor > 0, "the divisor is positive")
  let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
  // The magnitudes are unsigned, so that doubling the remainder cannot overflow.
  guard 2 * remainder.magnitude >= divisor.magnitude else { return quotient }
  return value < 0 ? quotient - 1 : quotient + 1
}
