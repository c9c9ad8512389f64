/// A named point in an image.
public struct KeyPoint: Hashable, Sendable {
  /// Such as `left-eye`.
  public var name: String
  /// In pixels of the stage's input, with fractions, from the left.
  public var x: Double
  /// In pixels of the stage's input, with fractions, from the top.
  public var y: Double
  /// Usually 0 to 1; not checked.
  public var score: Double

  public init(_ name: String, x: Double, y: Double, score: Double = 1) {
    self.name = name
    self.x = x
    self.y = y
    self.score = score
  }
}
