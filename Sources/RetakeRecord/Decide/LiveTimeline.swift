import RetakeCore

/// One time line for a source that is connected again and again, each time with an origin of its own:
/// the first connection keeps its times, a later one goes on where its first frame arrived.
struct LiveTimeline: Hashable, Sendable {
  private struct Last: Hashable, Sendable {
    var nanoseconds: Int64
    var arrival: Int64
  }

  /// Times beyond 36 years are no times: the frame's arrival is.
  static let range: ClosedRange<Int64> = -(1 << 60)...1 << 60

  let timeBase: TimeBase
  private var last: Last?
  private var shift: Int64 = 0
  /// The connection that the shift is for.
  private var shifted: Int?

  init(timeBase: TimeBase) {
    self.timeBase = timeBase
  }

  /// - Parameters:
  ///   - nanoseconds: As the connection gives it; nil where it gave none.
  ///   - pts: In the time base, likewise.
  ///   - connection: Counts them.
  ///   - arrival: On a clock that never goes back.
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
    let byArrival = last.nanoseconds + max(1, arrival - last.arrival)
    if let nanoseconds, connection != shifted {
      (shift, shifted) = (byArrival - nanoseconds, connection)
    }
    let shiftedTime = nanoseconds.map { $0 + shift } ?? byArrival
    let placed = min(2 * Self.range.upperBound, max(2 * Self.range.lowerBound, shiftedTime))
    self.last = Last(nanoseconds: placed, arrival: arrival)
    guard nanoseconds != nil, shift != 0 else { return (placed, pts) }
    return (placed, units(placed))
  }

  private func units(_ nanoseconds: Int64) -> Int64? {
    let over = Int128(nanoseconds) * Int128(timeBase.denominator)
    return Int64(exactly: divideToNearest(over, by: Int128(timeBase.numerator) * 1_000_000_000))
  }
}
