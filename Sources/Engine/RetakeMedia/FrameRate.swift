/// Frames per second as a fraction.
package struct FrameRate: Hashable, Sendable, CustomStringConvertible {
  package var numerator: Int32
  package var denominator: Int32

  package init(_ numerator: Int32, _ denominator: Int32) {
    precondition(numerator > 0 && denominator > 0, "a frame rate is a positive fraction")
    self.numerator = numerator
    self.denominator = denominator
  }

  package var framesPerSecond: Double { Double(numerator) / Double(denominator) }
  package var description: String { "\(numerator)/\(denominator)" }
}
