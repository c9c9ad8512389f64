import RetakeCore

/// Determines which detections of two runs are the same object.
///
/// Equal lines are paired first. The others are paired so that the sum of these weights is largest:
/// 1,000 for a pair of identities that was also paired in the previous frame, 2 for the same class,
/// and the overlap. The boxes of a pair overlap by at least `leastOverlap`.
struct BoxMatching {
  /// With more boxes on a side, boxes are paired in their order.
  static let limit = 512

  /// For each golden detection, the index of the actual one, or `nil`.
  private(set) var partners: [Int?]
  /// Actual detections without a partner.
  private(set) var unmatched: [Int]

  /// Pairs the boxes in the order of the lists.
  init(inOrder golden: Int, _ actual: Int) {
    partners = (0..<golden).map { $0 < actual ? $0 : nil }
    unmatched = Array(min(golden, actual)..<actual)
  }

  /// - Parameter previous: The actual identity that each golden identity was last paired with;
  ///   without an entry, the same identity.
  init(
    golden: [DetectionLine], actual: [DetectionLine], leastOverlap: Double, previous: [Int: Int]
  ) {
    self.init(golden: golden, actual: actual) {
      Self.weight($0, $1, leastOverlap: leastOverlap, previous: previous)
    }
  }

  /// - Parameter weight: The weight of a pair that is not equal; 0 means that the two cannot be the
  ///   same object.
  init<Line: Equatable>(golden: [Line], actual: [Line], weight: (Line, Line) -> Int) {
    self.init(inOrder: golden.count, actual.count)
    // The search is cubic in the number of boxes, and a detector may return any number of boxes.
    guard max(golden.count, actual.count) <= Self.limit else { return }
    for index in partners.indices { partners[index] = nil }
    var taken = [Bool](repeating: false, count: actual.count)
    for (index, box) in golden.enumerated() {
      // In most cases, the n-th box still matches the n-th.
      let same =
        index < actual.count && !taken[index] && actual[index] == box
        ? index : actual.indices.first { !taken[$0] && actual[$0] == box }
      if let same {
        partners[index] = same
        taken[same] = true
      }
    }
    let rows = golden.indices.filter { partners[$0] == nil }
    let columns = actual.indices.filter { !taken[$0] }
    guard !rows.isEmpty, !columns.isEmpty else {
      unmatched = columns
      return
    }
    let weights = rows.map { row in
      columns.map { column in weight(golden[row], actual[column]) }
    }
    for (row, column) in zip(rows, Assignment.best(weights)) {
      guard let column else { continue }
      partners[row] = columns[column]
      taken[columns[column]] = true
    }
    unmatched = actual.indices.filter { !taken[$0] }
  }

  /// In millionths; 0 means that the two cannot be the same object.
  private static func weight(
    _ golden: DetectionLine, _ actual: DetectionLine, leastOverlap: Double, previous: [Int: Int]
  ) -> Int {
    let overlap = overlap(golden, actual)
    guard overlap >= leastOverlap else { return 0 }
    let wasPair =
      golden.identity.map { (previous[$0] ?? $0) == actual.identity } ?? false
    // An integer, so that the sum of a pairing does not depend on the order of its terms.
    let millionths = Int((overlap * 1_000_000).rounded())
    // The overlap plus 1: with `iou: 0` boxes that do not touch may be one object, and a weight of
    // 0 means that they cannot.
    return 1 + millionths + (wasPair ? 1_000_000_000 : 0)
      + (golden.classIndex == actual.classIndex ? 2_000_000 : 0)
  }

  /// Intersection over union of the rounded boxes, 0 to 1; 0 if a number is not finite. All sides
  /// use the same precision, so it cancels out in the ratio.
  static func overlap(_ left: DetectionLine, _ right: DetectionLine) -> Double {
    let width =
      min(left.x.units + left.width.units, right.x.units + right.width.units)
      - max(left.x.units, right.x.units)
    guard width > 0 else { return 0 }
    let height =
      min(left.y.units + left.height.units, right.y.units + right.height.units)
      - max(left.y.units, right.y.units)
    guard height > 0 else { return 0 }
    // `min` and `max` ignore a NaN argument. A NaN width or height makes the union NaN.
    guard (left.x.units + left.y.units + right.x.units + right.y.units).isFinite else { return 0 }
    let inner = width * height
    let union =
      left.width.units * left.height.units + right.width.units * right.height.units - inner
    let overlap = inner / union
    // NaN for boxes of infinite size. The bounds hold also if large coordinates were rounded.
    return overlap.isFinite ? min(max(overlap, 0), 1) : 0
  }
}
