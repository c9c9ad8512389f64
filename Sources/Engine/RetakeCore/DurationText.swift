/// Durations in the form that people write in documents and options: a decimal number and a unit.
extension Duration {
  /// Rounded to integer nanoseconds, half away from zero.
  package var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    // A Duration may be longer than 64 bits of nanoseconds, let alone of attoseconds.
    let total = Int128(seconds) * 1_000_000_000_000_000_000 + Int128(attoseconds)
    return Int64(clamping: divideToNearest(total, by: 1_000_000_000))
  }

  /// Parses `"45ms"`, `"1.5s"`, `"250us"` or `"800ns"`; `nil` for any other form, for a negative
  /// number, for a number above 10^18 ns, and for a number with more than nine digits after the
  /// point.
  package init?(parsing text: some StringProtocol) {
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let scales: [String: (scale: Int64, digitsMax: Int)] = [
      "ns": (1, 18), "us": (1_000, 15), "ms": (1_000_000, 12), "s": (1_000_000_000, 9),
    ]
    guard let (scale, digitsMax) = scales[String(text.dropFirst(digits.count))] else { return nil }
    let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
    // Nine digits of seconds are below 10^18 nanoseconds, so the sum below fits 64 bits.
    guard (1...2).contains(parts.count), let whole = Int64(parts[0]), parts[0].count <= digitsMax
    else {
      return nil
    }
    var nanoseconds = Int128(whole) * Int128(scale)
    if parts.count == 2 {
      guard (1...9).contains(parts[1].count), let fraction = Int64(parts[1]) else { return nil }
      var divisor: Int128 = 1
      for _ in 0..<parts[1].count { divisor *= 10 }
      nanoseconds += divideToNearest(Int128(fraction) * Int128(scale), by: divisor)
    }
    self = .nanoseconds(Int64(nanoseconds))
  }

  /// The shortest exact form with a unit: `"45ms"`, `"2s"`, `"33333333ns"`. With ten digits or
  /// more, it is in seconds: `"3596.017666667s"`.
  package var unitText: String {
    let value = nanoseconds
    let second: Int64 = 1_000_000_000
    // `init(parsing:)` reads nine digits before the point. A value that needs ten digits in its
    // unit is written in seconds, with a fraction.
    if value >= second, value % 1_000 != 0 || value / 1_000 >= second, value % second != 0 {
      // The added second keeps the leading zeros of the fraction.
      let digits = String(value % second + second).dropFirst()
      let fraction = String(digits.reversed().drop { $0 == "0" }.reversed())
      return "\(value / second).\(fraction)s"
    }
    for (unit, scale) in [("s", Int64(1_000_000_000)), ("ms", 1_000_000), ("us", 1_000)]
    where value % scale == 0 {
      return "\(value / scale)\(unit)"
    }
    return "\(value)ns"
  }

  /// For people: seconds, or milliseconds below a second, with up to three digits after the point:
  /// `"1.533 s"`, `"760 ms"`, `"33.367 ms"`.
  package var roundedText: String {
    let value = nanoseconds
    let second: Int64 = 1_000_000_000
    // The last half microsecond below a second rounds to a second.
    let isLong = value.magnitude >= UInt64(second) - 500
    let thousandths = divideToNearest(Int128(value), by: isLong ? 1_000_000 : 1_000)
    // The added thousand keeps the leading zeros of the fraction.
    let digits = String(thousandths.magnitude % 1_000 + 1_000).dropFirst()
    let fraction = String(digits.reversed().drop { $0 == "0" }.reversed())
    let whole = "\(thousandths < 0 ? "-" : "")\(thousandths.magnitude / 1_000)"
    return whole + (fraction.isEmpty ? "" : "." + fraction) + (isLong ? " s" : " ms")
  }
}
