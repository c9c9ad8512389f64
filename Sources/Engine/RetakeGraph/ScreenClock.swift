import RetakeCore

/// When a modelled screen shows its next image: at even intervals from virtual time zero.
package struct ScreenClock: Hashable, Sendable {
  /// Refreshes per thousand seconds.
  package let millihertz: Int64

  private static let scale: Int64 = 1_000_000_000_000

  /// - Parameter hertz: Above 0 and at most 1,000; rounded to a thousandth.
  package init?(hertz: Double) {
    guard hertz > 0, hertz <= 1_000 else { return nil }
    millihertz = Int64((hertz * 1_000).rounded())
    guard millihertz > 0 else { return nil }
  }

  /// The time of a refresh, to the nearest nanosecond.
  package func nanoseconds(ofRefresh number: Int64) -> Int64 {
    // Within 64 bits for all times that a session can have: below 2^63 / 10^12 × 1,000 seconds.
    let product = number.multipliedFullWidth(by: Self.scale)
    let half = millihertz / 2
    let (low, carried) = product.low.addingReportingOverflow(UInt64(half))
    let high = product.high + (carried ? 1 : 0)
    return Self.floorDivided((high, low), by: millihertz)
  }

  /// The number of the first refresh that is not before a time.
  package func refresh(notBefore time: Int64) -> Int64 {
    let product = time.multipliedFullWidth(by: millihertz)
    var number = Self.floorDivided((product.high, product.low), by: Self.scale) - 1
    // Rounding moves a refresh by less than a nanosecond, so there are at most three steps.
    while nanoseconds(ofRefresh: number) < time { number += 1 }
    return number
  }

  private static func floorDivided(_ value: (high: Int64, low: UInt64), by divisor: Int64) -> Int64
  {
    // The division rounds towards zero, and virtual times before zero have to be rounded down.
    let (quotient, remainder) = divisor.dividingFullWidth(value)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
