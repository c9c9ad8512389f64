import RetakeCore

/// The average precision of one class, and its right and wrong detections, as COCO's evaluation
/// (pycocotools) computes them.
struct AveragePrecision {
  /// The detections of a frame that count for the average precision: the detections with the best scores.
  static let detectionsMax = 100
  /// 0.5, 0.55 … 0.95, as NumPy's `linspace` rounds them.
  static let thresholds: [Double] = (0..<9).map { Double($0) * step + 0.5 } + [0.95]
  private static let step: Double = (0.95 - 0.5) / 9
  /// 0, 0.01 … 1, in the same way.
  private static let recalls: [Double] = (0..<100).map { Double($0) * 0.01 } + [1]

  private struct Hit {
    var score: Double
    /// A bit for each threshold: whether the detection found an object, and whether it is ignored.
    var found: UInt16
    var ignored: UInt16
  }

  private var hits: [Hit] = []
  /// Objects, without ignored regions.
  private(set) var objects = 0
  /// Of all detections at IoU 0.5.
  private(set) var right = 0
  private(set) var wrong = 0

  /// Adds the detections and labels of one frame. A detection may find any number of regions, and a
  /// region is found last.
  mutating func add(_ frame: ClassFrame) {
    objects += frame.objects.count
    let order = frame.detections.indices.sorted {
      let (left, right) = (frame.score(of: $0), frame.score(of: $1))
      return left != right ? left > right : $0 < $1
    }
    var mine = order.map { Hit(score: frame.score(of: $0), found: 0, ignored: 0) }
    for (bit, threshold) in Self.thresholds.enumerated() {
      var taken = [Bool](repeating: false, count: frame.objects.count)
      for (rank, index) in order.enumerated() {
        if let object = frame.bestObject(of: index, atLeast: threshold, taken) {
          taken[object] = true
          mine[rank].found |= 1 << bit
        } else if frame.regionShares[index] >= threshold {
          mine[rank].ignored |= 1 << bit
        }
      }
    }
    for hit in mine where hit.ignored & 1 == 0 {
      if hit.found & 1 == 1 { right += 1 } else { wrong += 1 }
    }
    hits += mine.prefix(Self.detectionsMax)
  }

  /// By threshold; `nil` without objects.
  func values() -> [Double]? {
    guard objects > 0 else { return nil }
    let order = hits.indices.sorted {
      hits[$0].score != hits[$1].score ? hits[$0].score > hits[$1].score : $0 < $1
    }
    return Self.thresholds.indices.map { value(at: $0, order) }
  }

  /// The mean precision at 101 recalls.
  private func value(at bit: Int, _ order: [Int]) -> Double {
    var (found, wrong) = (0, 0)
    var recalls: [Double] = []
    var precisions: [Double] = []
    for index in order where hits[index].ignored >> bit & 1 == 0 {
      if hits[index].found >> bit & 1 == 1 { found += 1 } else { wrong += 1 }
      recalls.append(Double(found) / Double(objects))
      precisions.append(Double(found) / (Double(found + wrong) + 0x1p-52))
    }
    for index in precisions.indices.dropLast().reversed() {
      precisions[index] = max(precisions[index], precisions[index + 1])
    }
    var sum = 0.0
    var index = 0
    for recall in Self.recalls {
      while index < recalls.count, recalls[index] < recall { index += 1 }
      guard index < recalls.count else { break }
      sum += precisions[index]
    }
    return sum / Double(Self.recalls.count)
  }
}
