/// One instant on several clocks.
package struct WallAnchor: Hashable, Sendable {
  /// On the monotonic clock, which stops while the machine is suspended.
  package var monotonicNanoseconds: Int64
  /// Since 1970-01-01 00:00 UTC, by the machine's date.
  package var unixNanoseconds: Int64
  /// On a monotonic clock that also counts while the machine is suspended.
  package var bootNanoseconds: Int64
  /// The largest error of the date at this instant, in either direction.
  package var uncertaintyNanoseconds: Int64

  package init(
    monotonicNanoseconds: Int64, unixNanoseconds: Int64, bootNanoseconds: Int64,
    uncertaintyNanoseconds: Int64
  ) {
    self.monotonicNanoseconds = monotonicNanoseconds
    self.unixNanoseconds = unixNanoseconds
    self.bootNanoseconds = bootNanoseconds
    self.uncertaintyNanoseconds = uncertaintyNanoseconds
  }
}
