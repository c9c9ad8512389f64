package import RetakeCore
package import RetakeGraph

/// Thins a stream to a rate without drift. A frame passes if it arrives at most a quarter of an
/// interval before it is due.
package struct ThrottleStateMachine: Hashable, Sendable {
  /// Nanoseconds between frames; 0 = all frames pass.
  package private(set) var intervalNanoseconds: Int64
  private var due: Int64?

  /// The longest interval: about nine years. Any time plus twice that fits in 64 bits.
  package static let intervalNanosecondsMax: Int64 = 1 << 58

  /// - Parameter framesPerSecond: 0 = all frames pass.
  package init(framesPerSecond: Double) {
    intervalNanoseconds = Self.intervalNanoseconds(framesPerSecond: framesPerSecond)
  }

  /// The rate of the policy while the state of the device is unknown.
  package init(framesPerSecond policy: DevicePolicy) {
    self.init(framesPerSecond: policy.fps(in: DeviceState()))
  }

  /// The interval to the nearest nanosecond, half away from zero; 0 for no limit.
  package static func intervalNanoseconds(framesPerSecond: Double) -> Int64 {
    precondition(framesPerSecond >= 0, "a rate is not negative")
    guard framesPerSecond > 0 else { return 0 }
    let interval = (1_000_000_000 / framesPerSecond).rounded(.toNearestOrAwayFromZero)
    return Int64(min(interval, Double(intervalNanosecondsMax)))
  }

  /// Whether the frame that arrives at `time` passes.
  package mutating func passes(at time: Int64) -> Bool {
    guard intervalNanoseconds > 0 else { return true }
    // throttle-pass: the first frame is due at once.
    let expected = due ?? time
    // Equivalent to 4 × (expected − time) ≤ interval, which could overflow 64 bits.
    guard expected - time <= intervalNanoseconds / 4 else {
      due = expected
      return false
    }
    // throttle-pass: due advances by full intervals, so jitter does not add up to a drift. After a
    // gap, the rhythm starts again at this frame.
    let next = expected + intervalNanoseconds
    due = time >= next + intervalNanoseconds ? time + intervalNanoseconds : next
    return true
  }

  /// Changes the rate. The next frame is due one new interval after the last due time, so that the
  /// rhythm continues. Switching the throttle off or on resets the rhythm.
  ///
  /// - Returns: Whether the interval has changed.
  package mutating func changeRate(intervalNanoseconds new: Int64) -> Bool {
    precondition((0...Self.intervalNanosecondsMax).contains(new), "an interval is in its bounds")
    guard new != intervalNanoseconds else { return false }
    // throttle-rate: the rhythm continues from the last due time.
    // `due` is always one interval after the last due time, so the sum stays within 64 bits.
    due = new == 0 || intervalNanoseconds == 0 ? nil : due.map { $0 + (new - intervalNanoseconds) }
    intervalNanoseconds = new
    return true
  }
}

extension DevicePolicy {
  /// Nanoseconds between frames in this state; 0 = all frames pass.
  package func intervalNanoseconds(in state: DeviceState) -> Int64 {
    ThrottleStateMachine.intervalNanoseconds(framesPerSecond: fps(in: state))
  }
}
