import RetakeCore

/// A possible detection, in pixels of the model's input.
struct Candidate: Hashable, Sendable {
  var box: Box
  var score: Double
  var classIndex: Int
  /// The place in the model's output, which settles all other ties.
  var index: Int
  var landmarks: [ImagePoint] = []

  /// The total order: score descending, then class, y, x, index.
  static func comesFirst(_ left: Candidate, _ right: Candidate) -> Bool {
    if left.score != right.score { return left.score > right.score }
    if left.classIndex != right.classIndex { return left.classIndex < right.classIndex }
    if left.box.y != right.box.y { return left.box.y < right.box.y }
    if left.box.x != right.box.x { return left.box.x < right.box.x }
    return left.index < right.index
  }
}
