extension VirtualClock {
  /// A point in virtual time, in integer nanoseconds since the scope began.
  ///
  /// These are the nanoseconds of Retake's engine: a frame that a replay captures at 1 200 000 000
  /// is there at `.milliseconds(1_200)`.
  public struct Instant: InstantProtocol, Codable {
    /// Since the scope began; below zero for a point before it.
    public var nanoseconds: Int64

    /// The beginning of the scope.
    public static let zero = Instant(nanoseconds: 0)

    /// The point that is this number of nanoseconds after the scope's beginning.
    public init(nanoseconds: Int64) {
      self.nanoseconds = nanoseconds
    }

    /// The point that is this number of seconds after the scope's beginning.
    public static func seconds(_ value: Int64) -> Instant { zero.advanced(by: .seconds(value)) }

    /// The point that is this number of milliseconds after the scope's beginning.
    public static func milliseconds(_ value: Int64) -> Instant {
      zero.advanced(by: .milliseconds(value))
    }

    /// The point that is `duration` later, truncated to nanoseconds. A result that does not fit in
    /// 64 bits, such as the end of a sleep "for ever", becomes the first or the last instant.
    public func advanced(by duration: Duration) -> Instant {
      let (sum, overflows) = nanoseconds.addingReportingOverflow(duration.wholeNanoseconds)
      guard overflows else { return Instant(nanoseconds: sum) }
      return Instant(nanoseconds: nanoseconds < 0 ? .min : .max)
    }

    /// How much later `other` is; below zero if it is earlier.
    public func duration(to other: Instant) -> Duration {
      .nanoseconds(other.nanoseconds) - .nanoseconds(nanoseconds)
    }

    /// Whether `left` is earlier.
    public static func < (left: Instant, right: Instant) -> Bool {
      left.nanoseconds < right.nanoseconds
    }
  }
}

extension VirtualClock.Instant: CustomStringConvertible {
  /// As `1.2s` or `50ms`, exact to the nanosecond.
  public var description: String { Duration.nanoseconds(nanoseconds).brief }
}

extension Duration {
  /// Cut off towards zero; the nearest that 64 bits hold.
  var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    guard !overflows else { return seconds < 0 ? .min : .max }
    let (sum, overflowsToo) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
    return overflowsToo ? (seconds < 0 ? .min : .max) : sum
  }

  /// Exact, in the largest unit that is not more: `1.2s`, `50ms`, `16.666667ms`, `1ns`.
  var brief: String {
    let value = wholeNanoseconds
    let units: [(UInt64, String)] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs")]
    guard let (size, unit) = units.first(where: { value.magnitude >= $0.0 }) else {
      return value == 0 ? "0s" : "\(value)ns"
    }
    // The digits after the point, without the zeros at their end.
    var decimals = String(String(value.magnitude % size + size).dropFirst())[...]
    // Ends: nine characters at most.
    while decimals.last == "0" { decimals.removeLast() }
    let whole = "\(value < 0 ? "-" : "")\(value.magnitude / size)"
    return whole + (decimals.isEmpty ? "" : ".\(decimals)") + unit
  }
}
