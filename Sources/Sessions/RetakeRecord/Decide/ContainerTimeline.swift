import RetakeCore

/// The times that the encoder and the container get, in milliseconds. Both require strictly
/// increasing times without large jumps. The frame table keeps the true times.
struct ContainerTimeline: Hashable, Sendable {
  static let timeBase = TimeBase(1, 1_000)
  /// A longer jump, forward or back, is limited to this length.
  static let leapMillisecondsMax: Int64 = 10_000

  /// One instant on both time lines, from which other times are measured.
  private struct Origin: Hashable, Sendable {
    var nanoseconds: Int64
    var milliseconds: Int64
  }

  private var origin: Origin?
  private var last: Int64 = -1

  mutating func milliseconds(atNanoseconds time: Int64) -> Int64 {
    let known = origin ?? Origin(nanoseconds: time, milliseconds: 0)
    origin = known
    // From a fixed origin and not from the previous frame, so that rounding does not add up.
    let distance = divideToNearest(
      Int128(time) - Int128(known.nanoseconds), by: 1_000_000)
    var next = Int64(clamping: Int128(known.milliseconds) + distance)
    if next > last + Self.leapMillisecondsMax {
      next = last + Self.leapMillisecondsMax
      origin = Origin(nanoseconds: time, milliseconds: next)
    } else if next < last - Self.leapMillisecondsMax {
      next = last + 1
      origin = Origin(nanoseconds: time, milliseconds: next)
    }
    last = max(next, last + 1)
    return last
  }
}
