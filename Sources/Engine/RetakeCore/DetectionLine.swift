/// A rounded detection.
package struct DetectionLine: Hashable, Sendable {
  package var identity: Int?
  package var classIndex: Int
  package var x: FixedDecimal
  package var y: FixedDecimal
  package var width: FixedDecimal
  package var height: FixedDecimal
  package var score: FixedDecimal

  package init(_ detection: Detection, _ precision: Precision) {
    let decimals = precision.boxDecimals
    identity = detection.identity
    classIndex = detection.classIndex
    x = FixedDecimal(detection.box.x, decimals: decimals)
    y = FixedDecimal(detection.box.y, decimals: decimals)
    width = FixedDecimal(detection.box.width, decimals: decimals)
    height = FixedDecimal(detection.box.height, decimals: decimals)
    score = FixedDecimal(detection.score, decimals: precision.scoreDecimals)
  }

  init(
    identity: Int?, classIndex: Int, x: FixedDecimal, y: FixedDecimal, width: FixedDecimal,
    height: FixedDecimal, score: FixedDecimal
  ) {
    self.identity = identity
    self.classIndex = classIndex
    self.x = x
    self.y = y
    self.width = width
    self.height = height
    self.score = score
  }

  /// −1, 0 or 1 in the canonical order: class, identity (missing first), y, x, width, height,
  /// score.
  func order(against other: DetectionLine) -> Int {
    if classIndex != other.classIndex { return classIndex < other.classIndex ? -1 : 1 }
    if identity != other.identity {
      guard let identity else { return -1 }
      guard let theirs = other.identity else { return 1 }
      return identity < theirs ? -1 : 1
    }
    var order = y.order(against: other.y)
    if order == 0 { order = x.order(against: other.x) }
    if order == 0 { order = width.order(against: other.width) }
    if order == 0 { order = height.order(against: other.height) }
    if order == 0 { order = score.order(against: other.score) }
    return order
  }
}
