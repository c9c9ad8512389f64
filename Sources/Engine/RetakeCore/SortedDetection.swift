/// A detection that is sorted into the canonical order: by class, identity, y, x, every other
/// field, its labels, and its original position.
struct SortedDetection: Comparable {
  struct Label: Equatable {
    var label: String
    var score: FixedDecimal
  }

  var line: DetectionLine
  var classes: [Label]
  var index: Int

  init(_ detection: Detection, _ precision: Precision, index: Int) {
    // Rounded before sorting: digits that no line shows must not decide the order of the lines.
    line = DetectionLine(detection, precision)
    classes =
      detection.classes.isEmpty
      ? []
      : detection.classes.map {
        Label(
          label: $0.label, score: FixedDecimal($0.score, decimals: precision.scoreDecimals))
      }
    self.index = index
  }

  static func < (left: SortedDetection, right: SortedDetection) -> Bool {
    let order = left.line.order(against: right.line)
    if order != 0 { return order < 0 }
    if left.classes != right.classes { return left.precedesByClasses(right) }
    // Makes the order total. `sort()` does not promise to keep the order of equal elements.
    return left.index < right.index
  }

  private func precedesByClasses(_ other: SortedDetection) -> Bool {
    for (mine, theirs) in zip(classes, other.classes) where mine != theirs {
      if mine.label != theirs.label {
        return mine.label.utf8.lexicographicallyPrecedes(theirs.label.utf8)
      }
      return mine.score.order(against: theirs.score) < 0
    }
    return classes.count < other.classes.count
  }
}
