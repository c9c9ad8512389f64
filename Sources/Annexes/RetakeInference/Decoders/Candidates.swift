import RetakeCore

extension Box {
  /// A box from its middle.
  init(middleX: Double, middleY: Double, width: Double, height: Double) {
    self.init(x: middleX - width / 2, y: middleY - height / 2, width: width, height: height)
  }

  /// Intersection over union: 0 for boxes that do not overlap or have no area, 1 for equal boxes.
  func overlap(with other: Box) -> Double {
    let across = min(x + width, other.x + other.width) - max(x, other.x)
    let down = min(y + height, other.y + other.height) - max(y, other.y)
    guard across > 0, down > 0 else { return 0 }
    let shared = across * down
    return shared / (area + other.area - shared)
  }
}
