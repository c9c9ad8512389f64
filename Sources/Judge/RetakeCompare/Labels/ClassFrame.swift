package import RetakeCore

/// The objects and detections of one class in one frame.
struct ClassFrame {
  /// An object and a detection that overlap.
  struct Pair {
    var object: Int
    var detection: Int
    /// Intersection over union, above 0.
    var overlap: Double
  }

  /// Without ignored regions.
  let objects: [LabelBox]
  let detections: [Detection]
  /// In the order of objects, then of detections.
  let pairs: [Pair]
  /// By detection: the largest share of its area that is in one ignored region.
  let regionShares: [Double]
  /// By detection: its pairs, in the order of the objects.
  private let pairsOfDetection: [[Int]]

  init(objects: [LabelBox], regions: [Box], detections: [Detection]) {
    (self.objects, self.detections) = (objects, detections)
    var pairs: [Pair] = []
    var pairsOfDetection = [[Int]](repeating: [], count: detections.count)
    for (object, label) in objects.enumerated() {
      for (index, detection) in detections.enumerated() {
        let overlap = detection.box.overlap(label.box)
        guard overlap > 0 else { continue }
        pairsOfDetection[index].append(pairs.count)
        pairs.append(Pair(object: object, detection: index, overlap: overlap))
      }
    }
    (self.pairs, self.pairsOfDetection) = (pairs, pairsOfDetection)
    regionShares = detections.map { detection in
      regions.reduce(0) { max($0, detection.box.share(in: $1)) }
    }
  }

  private init(objects: [LabelBox], detections: [Detection], pairs: [Pair]) {
    (self.objects, self.detections, self.pairs) = (objects, detections, pairs)
    (regionShares, pairsOfDetection) = ([], [])
  }

  /// Scores that are not numbers are the lowest.
  func score(of detection: Int) -> Double {
    let score = detections[detection].score
    return score.isNaN ? -.infinity : score
  }

  /// The object with the largest overlap that is not taken; of equal objects the last, as in
  /// pycocotools.
  func bestObject(of detection: Int, atLeast threshold: Double, _ taken: [Bool]) -> Int? {
    var best: Pair?
    for index in pairsOfDetection[detection] where !taken[pairs[index].object] {
      let pair = pairs[index]
      if pair.overlap >= best?.overlap ?? threshold { best = pair }
    }
    return best?.object
  }

  /// Without the detections that found no object and are in an ignored region, as TrackEval removes
  /// them for KITTI and BDD100K.
  func withoutRegions() -> ClassFrame {
    guard regionShares.contains(where: { $0 > 0.5 + 0x1p-52 }) else { return self }
    let paired = Set(matches { _ in false }.map(\.detection))
    let kept = detections.indices.filter {
      paired.contains($0) || regionShares[$0] <= 0.5 + 0x1p-52
    }
    var places = [Int?](repeating: nil, count: detections.count)
    for (place, index) in kept.enumerated() { places[index] = place }
    return ClassFrame(
      objects: objects, detections: kept.map { detections[$0] },
      pairs: pairs.compactMap { pair in
        places[pair.detection].map {
          Pair(object: pair.object, detection: $0, overlap: pair.overlap)
        }
      })
  }

  /// Pairs of an IoU of at least 0.5: as many as possible that continue a track, then with the
  /// largest sum of overlaps.
  func matches(continuing: (Pair) -> Bool) -> [Pair] {
    let close = pairs.filter { $0.overlap >= 0.5 - 0x1p-52 }
    let edges = close.map {
      // Integers, so that the sum of a pairing does not depend on the order of its terms.
      Assignment.Edge(
        row: $0.object, column: $0.detection,
        weight: Int(($0.overlap * 0x1p40).rounded()) + (continuing($0) ? 1_000 << 40 : 0))
    }
    return Assignment.best(edges, rows: objects.count, columns: detections.count).map { close[$0] }
  }
}

extension Box {
  /// In square pixels; 0 if the boxes have no common area.
  private func intersection(_ other: Box) -> Double {
    let width = min(x + self.width, other.x + other.width) - max(x, other.x)
    let height = min(y + self.height, other.y + other.height) - max(y, other.y)
    return width > 0 && height > 0 ? width * height : 0
  }

  /// Intersection over union, 0 to 1; 0 if a number is not finite.
  package func overlap(_ other: Box) -> Double {
    let inner = intersection(other)
    guard inner > 0 else { return 0 }
    let overlap = inner / (area + other.area - inner)
    return overlap.isFinite ? min(max(overlap, 0), 1) : 0
  }

  /// The share of this box's area that is in the region, 0 to 1.
  fileprivate func share(in region: Box) -> Double {
    let share = intersection(region) / area
    return share.isFinite ? min(max(share, 0), 1) : 0
  }
}
