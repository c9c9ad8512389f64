/// The unit of a track's presentation times, in seconds: `numerator / denominator`.
public struct TimeBase: Hashable, Sendable, Codable, CustomStringConvertible {
  /// At least 1, such as 1 or 1001.
  public var numerator: Int32
  /// At least 1, such as 30000 or 90000.
  public var denominator: Int32

  /// Ends the process unless both numbers are positive. The fraction is not reduced.
  public init(_ numerator: Int32, _ denominator: Int32) {
    requirement(numerator > 0 && denominator > 0, "a time base is a positive fraction")
    self.numerator = numerator
    self.denominator = denominator
  }

  /// Parses `"1/30000"`; `nil` for any other form.
  package init?(parsing text: some StringProtocol) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let numerator = Int32(parts[0]), let denominator = Int32(parts[1]),
      numerator > 0, denominator > 0
    else { return nil }
    self.init(numerator, denominator)
  }

  /// `"1/90000"`.
  public var description: String { "\(numerator)/\(denominator)" }
}
