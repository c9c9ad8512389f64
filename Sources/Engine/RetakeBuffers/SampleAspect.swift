/// Width of a pixel over its height.
public struct SampleAspect: Hashable, Sendable, Codable {
  /// The width of a pixel, relative to `denominator`.
  public var numerator: Int32
  /// The height of a pixel, relative to `numerator`.
  public var denominator: Int32

  /// 1:1, the default of a frame.
  public static let square = SampleAspect(1, 1)

  /// The numbers are not checked, and the fraction is not reduced.
  public init(_ numerator: Int32, _ denominator: Int32) {
    self.numerator = numerator
    self.denominator = denominator
  }
}
