import RetakeCore

/// Thins a stream to a rate without drift: a frame passes if it comes no more than a quarter of an
/// interval before it is due.
package struct ThrottleStateMachine: Hashable, Sendable {
  /// Nanoseconds between frames.
  package let intervalNanoseconds: Int64
  private var due: Int64?

  /// The longest interval: about nine years. Twice that behind any time fits in 64 bits.
  package static let intervalNanosecondsMax: Int64 = 1 << 58

  /// - Parameter framesPerSecond: Above zero; the interval is rounded to the nearest nanosecond,
  ///   half away from zero.
  package init(framesPerSecond: Double) {
    precondition(framesPerSecond > 0, "a throttle has a rate")
    let interval = (1_000_000_000 / framesPerSecond).rounded(.toNearestOrAwayFromZero)
    intervalNanoseconds = Int64(min(interval, Double(Self.intervalNanosecondsMax)))
  }

  /// Whether the frame that arrives at `time` passes.
  package mutating func passes(at time: Int64) -> Bool {
    let expected = due ?? time
    // The same as 4 × (expected − time) ≤ interval, which could leave 64 bits.
    guard expected - time <= intervalNanoseconds / 4 else {
      due = expected
      return false
    }
    let next = expected + intervalNanoseconds
    due = time >= next + intervalNanoseconds ? time + intervalNanoseconds : next
    return true
  }
}
