/// A chain of straight lines: a lane, a contour, a polygon or an oriented box.
public struct Polyline: Hashable, Sendable {
  /// x and y of each vertex, in pixels of the stage's input; the number may differ in each frame.
  public var vertices: [SIMD2<Double>]
  /// Whether a line connects the last vertex with the first, as in a polygon.
  public var isClosed: Bool

  public init(_ vertices: [SIMD2<Double>], isClosed: Bool = false) {
    self.vertices = vertices
    self.isClosed = isClosed
  }

  /// The vertices as unnamed points, and the lines as bones.
  package var outline: KeyPoints {
    var outline = KeyPoints(vertices.map { KeyPoint("", x: $0.x, y: $0.y) })
    outline.bones = vertices.indices.dropFirst().map { KeyPoints.Bone($0 - 1, $0) }
    if isClosed, vertices.count > 2 {
      outline.bones.append(KeyPoints.Bone(vertices.count - 1, 0))
    }
    return outline
  }
}
