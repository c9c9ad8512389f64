/// Real time, for live runs. Tests use a clock of their own.
package protocol LiveClock: Sendable {
  /// Nanoseconds on a monotonic clock, with an arbitrary origin.
  var monotonicNanoseconds: Int64 { get }

  /// Processor time of the calling thread.
  var threadNanoseconds: Int64 { get }

  /// The readings of all clocks at one instant of the monotonic clock.
  func anchor() -> WallAnchor

  /// Returns when the monotonic clock has reached the deadline, or when the condition is signaled.
  func wait(untilNanoseconds deadline: Int64, or condition: ThreadCondition)
}

extension LiveClock {
  /// A clock that is not a machine's measures no threads.
  package var threadNanoseconds: Int64 { 0 }

  /// Returns when that much time has passed, or when the condition is signaled.
  package func wait(nanoseconds: Int64, or condition: ThreadCondition) {
    wait(untilNanoseconds: monotonicNanoseconds + nanoseconds, or: condition)
  }
}
