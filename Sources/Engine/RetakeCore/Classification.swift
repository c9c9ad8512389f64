/// A label with its score.
public struct Classification: Hashable, Sendable, Codable {
  /// The name of the class.
  public var label: String
  /// Usually 0 to 1.
  public var score: Double

  /// `score` is not checked.
  public init(label: String, score: Double) {
    self.label = label
    self.score = score
  }
}
