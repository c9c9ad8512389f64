/// Real time, for what is live. Tests bring a clock of their own.
public protocol LiveClock: Sendable {
  /// Nanoseconds on a clock that never goes back, from an origin of its own.
  var monotonicNanoseconds: Int64 { get }

  /// Nanoseconds that the calling thread has spent computing.
  var threadNanoseconds: Int64 { get }

  /// What the other clocks say at one instant of this one.
  func anchor() -> WallAnchor

  /// Returns when the monotonic clock has reached the deadline, or when the bell rings.
  func wait(untilNanoseconds deadline: Int64, or bell: Bell)
}

extension LiveClock {
  /// A clock that is no machine's measures no thread.
  public var threadNanoseconds: Int64 { 0 }
}

/// One instant on several clocks.
public struct WallAnchor: Hashable, Sendable {
  /// On the clock that never goes back, and stands still while the machine is suspended.
  public var monotonicNanoseconds: Int64
  /// Since 1970-01-01 00:00 UTC, by the machine's date.
  public var unixNanoseconds: Int64
  /// As the first, but going on while the machine is suspended.
  public var bootNanoseconds: Int64
  /// How far the date may be off the instant, either way.
  public var uncertaintyNanoseconds: Int64

  public init(
    monotonicNanoseconds: Int64, unixNanoseconds: Int64, bootNanoseconds: Int64,
    uncertaintyNanoseconds: Int64
  ) {
    self.monotonicNanoseconds = monotonicNanoseconds
    self.unixNanoseconds = unixNanoseconds
    self.bootNanoseconds = bootNanoseconds
    self.uncertaintyNanoseconds = uncertaintyNanoseconds
  }
}
