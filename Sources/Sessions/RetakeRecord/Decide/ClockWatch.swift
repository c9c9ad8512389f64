import RetakeRuntime

/// Detects jumps of the machine's wall clock and times when the machine was suspended. Neither
/// changes the times in a session. The event explains why the date and the frames disagree.
struct ClockWatch: Hashable, Sendable {
  enum Leap: Hashable, Sendable {
    case date(nanoseconds: Int64)
    case suspended(nanoseconds: Int64)
  }

  /// Smaller steps are normal corrections of the wall clock, for example by NTP.
  static let leapNanosecondsMin: Int64 = 250_000_000

  private var previous: WallAnchor

  init(_ anchor: WallAnchor) {
    previous = anchor
  }

  mutating func leaps(at anchor: WallAnchor) -> [Leap] {
    let passed = anchor.monotonicNanoseconds - previous.monotonicNanoseconds
    // Only the clock since boot counts suspended time; the monotonic clock does not (man 2
    // clock_gettime).
    let slept = anchor.bootNanoseconds - previous.bootNanoseconds - passed
    // The date continues during suspension, so that time is not a leap.
    let leapt = anchor.unixNanoseconds - previous.unixNanoseconds - passed - slept
    previous = anchor
    var leaps: [Leap] = []
    if slept >= Self.leapNanosecondsMin { leaps.append(.suspended(nanoseconds: slept)) }
    if abs(leapt) >= Self.leapNanosecondsMin { leaps.append(.date(nanoseconds: leapt)) }
    return leaps
  }
}
