/// Named points of an object, and the lines between them.
public struct KeyPoints: Hashable, Sendable {
  /// A line between two points, by their indices.
  public struct Bone: Hashable, Sendable {
    public var from: Int
    public var to: Int

    public init(_ from: Int, _ to: Int) {
      (self.from, self.to) = (from, to)
    }
  }

  /// In the order of the stage, the same in each frame.
  public var points: [KeyPoint]
  /// The skeleton. It is drawn and not compared. A bone with an index outside `points` is not
  /// drawn.
  public var bones: [Bone]

  public init(_ points: [KeyPoint], bones: [Bone] = []) {
    self.points = points
    self.bones = bones
  }
}
