import RetakeCore

/// Maps the times of a source that reconnects, each time with a new origin, to one time line. The
/// first connection keeps its times. A later connection continues at the arrival of its first
/// frame.
struct LiveTimeline: Hashable, Sendable {
  private struct Last: Hashable, Sendable {
    var nanoseconds: Int64
    var arrival: Int64
  }

  /// A time beyond 36 years is not valid; the frame's arrival is used instead.
  static let range: ClosedRange<Int64> = -(1 << 60)...1 << 60

  let timeBase: TimeBase
  private var last: Last?
  private var shift: Int64 = 0
  /// The connection that the shift applies to.
  private var shifted: Int?

  init(timeBase: TimeBase) {
    self.timeBase = timeBase
  }

  /// - Parameters:
  ///   - nanoseconds: The time from the connection; nil if the connection has no time.
  ///   - pts: In the time base; nil if the connection has no time.
  ///   - connection: The number of the connection.
  ///   - arrival: On a monotonic clock.
  mutating func place(
    nanoseconds: Int64?, pts: Int64?, connection: Int, arrival: Int64
  ) -> (nanoseconds: Int64, pts: Int64?) {
    guard nanoseconds.map(Self.range.contains) ?? true else {
      return place(nanoseconds: nil, pts: nil, connection: connection, arrival: arrival)
    }
    guard let last else {
      let first = nanoseconds ?? 0
      shifted = connection
      self.last = Last(nanoseconds: first, arrival: arrival)
      return (first, pts)
    }
    // At least 1, so that frames keep the order of their capture.
    let byArrival = last.nanoseconds + max(1, arrival - last.arrival)
    if let nanoseconds, connection != shifted {
      (shift, shifted) = (byArrival - nanoseconds, connection)
    }
    let shiftedTime = nanoseconds.map { $0 + shift } ?? byArrival
    // Bounds the sum of the shifts of many reconnections, so that the sums above cannot overflow.
    let placed = min(2 * Self.range.upperBound, max(2 * Self.range.lowerBound, shiftedTime))
    self.last = Last(nanoseconds: placed, arrival: arrival)
    // A time that was not shifted stays as the source sent it; computed back from nanoseconds it
    // would be rounded.
    guard nanoseconds != nil, shift != 0 else { return (placed, pts) }
    return (placed, units(placed))
  }

  private func units(_ nanoseconds: Int64) -> Int64? {
    let over = Int128(nanoseconds) * Int128(timeBase.denominator)
    return Int64(exactly: divideToNearest(over, by: Int128(timeBase.numerator) * 1_000_000_000))
  }
}
