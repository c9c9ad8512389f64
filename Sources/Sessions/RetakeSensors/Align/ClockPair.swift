/// One event that both cameras noticed: its time on each camera's clock, in seconds.
package struct ClockPair: Hashable, Sendable {
  package var first: Double
  package var second: Double
  /// How clearly, from 0 to 1.
  package var clarity: Double

  package init(first: Double, second: Double, clarity: Double = 1) {
    (self.first, self.second, self.clarity) = (first, second, clarity)
  }
}
