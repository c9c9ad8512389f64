import Foundation
import RetakeCore

/// Masks, key points, embeddings and JSON values.
extension FrameComparator {
  private typealias Change = (kind: Finding.Kind, text: String, error: ErrorMeter.Measured?)

  mutating func compareObservations(
    _ golden: [ObservationLine], _ actual: [ObservationLine],
    _ frames: (golden: FrameID, actual: FrameID), into differences: inout [Difference]
  ) {
    let isInOrder = rule.mode == .exact || rule.order == .significant
    var (work, isEnding) = (0, false)
    let matching =
      isInOrder
      ? BoxMatching(inOrder: golden.count, actual.count)
      : BoxMatching(golden: golden, actual: actual) { line, other in
        work += line.content.count + other.content.count
        if work >= Self.workBetweenChecks { (work, isEnding) = (0, isEnding || isInterrupted()) }
        return isEnding ? 0 : weight(line, other)
      }
    let images = (golden: Self.imageIndices(golden), actual: Self.imageIndices(actual))
    for (index, partner) in matching.partners.enumerated() {
      if isInterrupted() { return }
      let line = golden[index]
      guard let partner else {
        differences.append(
          Difference(
            kind: .factDisappeared, golden: ResultLine.observation(line).text,
            message: "\(line.words) is missing"))
        continue
      }
      let places = places(frames, (images.golden[index], images.actual[partner]))
      if let difference = compare(line, actual[partner], places) { differences.append(difference) }
    }
    for index in matching.unmatched {
      differences.append(
        Difference(
          kind: .factAppeared, actual: ResultLine.observation(actual[index]).text,
          message: "\(actual[index].words) is new"))
    }
  }

  /// The vertices, runs and elements that are weighed from one question for an interruption to the
  /// next.
  private static let workBetweenChecks = 1_000_000

  /// For each line, the number of images before it.
  private static func imageIndices(_ lines: [ObservationLine]) -> [Int] {
    var count = 0
    return lines.map { line in
      defer { if case .image = line.content { count += 1 } }
      return count
    }
  }

  /// As `BoxMatching` weighs boxes; 0 means that the two cannot be the same object.
  private func weight(_ golden: ObservationLine, _ actual: ObservationLine) -> Int {
    let isSameLabel = golden.label == actual.label
    let closeness: Double
    switch (golden.content, actual.content) {
    case (.mask(let left), .mask(let right)):
      guard left.width == right.width, left.height == right.height else {
        // A mask of another size is compared with its label's, so that the finding names the sizes.
        return isSameLabel ? 1 : 0
      }
      closeness = left.overlap(with: right)
      guard closeness >= rule.iou else { return 0 }
    case (.points(let left, _), .points(let right, _)):
      let distances = zip(left, right).map {
        max(($0.x.value - $1.x.value).magnitude, ($0.y.value - $1.y.value).magnitude)
      }
      let sum = distances.reduce(0, +)
      closeness = sum.isFinite ? 1 / (1 + sum / Double(max(distances.count, 1))) : 0
    case (.embedding(let left), .embedding(let right)):
      guard isSameLabel else { return 0 }
      let distance = Self.cosineDistance(left, right)
      closeness = distance.isFinite ? 1 - distance / 2 : 0
    case (.polyline(let left, _), .polyline(let right, _)):
      let distance = Self.boundsDistance(left, right)
      closeness = distance.isFinite ? 1 / (1 + distance) : 0
    case (.image(let left), .image(let right)):
      guard isSameLabel else { return 0 }
      closeness = left == right ? 1 : 0
    case (.json, .json):
      // A name is all that two JSON values of one object have in common.
      guard isSameLabel else { return 0 }
      closeness = 0
    default: return 0
    }
    let wasPair = golden.identity.map { (identities[$0] ?? $0) == actual.identity } ?? false
    return 1 + Int((closeness * 1_000_000).rounded()) + (wasPair ? 1_000_000_000 : 0)
      + (isSameLabel ? 2_000_000 : 0)
  }

  /// The most serious difference of an observation, with its other differences in the message.
  private mutating func compare(
    _ golden: ObservationLine, _ actual: ObservationLine, _ places: ImageMeter.Places
  ) -> Difference? {
    let frame = places.golden.frame
    // Called even if no other difference exists, because it remembers the pair for the next frames.
    let isNewPair = pairs(golden.identity, actual.identity)
    guard golden != actual else { return nil }
    var changes: [Change] = []
    if golden.label != actual.label {
      changes.append((.classChanged, "is \(actual.label) now", nil))
    }
    changes += contentChanges(golden.content, actual.content, places)
    let score = meter.measure(.score, golden.score, actual.score, frame)
    if !score.isAllowed {
      let change = score.text(decimals: golden.score.decimals)
      changes.append((.scoreChanged, "its score differs by \(change)", score))
    }
    if isNewPair {
      let number = actual.identity.map { "number \($0)" } ?? "without a number"
      changes.append((.identityChanged, "is \(number) now", nil))
    }
    guard let first = changes.first else { return nil }
    return Difference(
      kind: first.kind, golden: ResultLine.observation(golden).text,
      actual: ResultLine.observation(actual).text, magnitude: first.error?.error,
      allowed: first.error?.allowed,
      message: "\(golden.words): \(changes.map(\.text).joined(separator: ", "))")
  }

  private mutating func contentChanges(
    _ golden: ObservationLine.Content, _ actual: ObservationLine.Content,
    _ places: ImageMeter.Places
  ) -> [Change] {
    guard golden != actual else { return [] }
    let frame = places.golden.frame
    switch (golden, actual) {
    case (.mask(let left), .mask(let right)): return maskChange(left, right, frame)
    case (.points(let left, _), .points(let right, _)): return pointChanges(left, right, frame)
    case (.polyline(let left, let wasClosed), .polyline(let right, let isClosed)):
      guard wasClosed == isClosed else {
        return [(.factChanged, isClosed ? "is closed now" : "is open now", nil)]
      }
      return lineChange(Polyline(left, isClosed), Polyline(right, isClosed), frame)
    case (.image(let left), .image(let right)):
      let found = pictures.difference(left, right, rule, images, places, &meter)
      return found.map { [(.pictureChanged, $0.text, $0.error)] } ?? []
    case (.embedding(let left), .embedding(let right)):
      return embeddingChange(left, right, frame)
    case (.json, .json): return fieldChange(golden, actual, frame)
    // Only the order pairs two kinds.
    default: return [(.factChanged, "is of another kind now", nil)]
    }
  }

  private mutating func maskChange(_ golden: Mask, _ actual: Mask, _ frame: FrameID) -> [Change] {
    guard golden.width == actual.width, golden.height == actual.height else {
      let sizes = [golden, actual].map { "\($0.width)x\($0.height)" }
      return [(.maskChanged, "its size is \(sizes[1]) instead of \(sizes[0])", nil)]
    }
    let overlap = golden.overlap(with: actual)
    let error = observations.measureMask(overlap: overlap, rule, frame)
    guard !error.isAllowed else { return [] }
    let least = FixedDecimal(1 - error.allowed, decimals: 4).text
    return [
      (.maskChanged, "IoU \(FixedDecimal(overlap, decimals: 4).text), at least \(least)", error)
    ]
  }

  private mutating func pointChanges(
    _ golden: [ObservationLine.Point], _ actual: [ObservationLine.Point], _ frame: FrameID
  ) -> [Change] {
    guard golden.map(\.name) == actual.map(\.name) else {
      let name = zip(golden, actual).first { $0.name != $1.name }?.1.name
      let text = name.map { "the point \($0) is in another place of the list" }
      return [
        (
          .pointMoved,
          text ?? "it has \(counted(actual.count, "point")) instead of \(golden.count)", nil
        )
      ]
    }
    var (moved, scored): ([Change], [Change]) = ([], [])
    for (point, other) in zip(golden, actual) {
      let (x, y) = (
        meter.measure(.position, point.x, other.x, frame),
        meter.measure(.position, point.y, other.y, frame)
      )
      let error = y.isWorse(than: x) ? y : x
      if !error.isAllowed {
        let pixels = error.text(decimals: point.x.decimals)
        moved.append((.pointMoved, "\(point.name) moved by \(pixels) px", error))
      }
      let score = meter.measure(.score, point.score, other.score, frame)
      if !score.isAllowed {
        let change = score.text(decimals: point.score.decimals)
        scored.append((.scoreChanged, "the score of \(point.name) differs by \(change)", score))
      }
    }
    return [moved, scored].compactMap { changes in
      guard var worst = changes.first else { return nil }
      for change in changes {
        if let error = change.error, let most = worst.error, error.isWorse(than: most) {
          worst = change
        }
      }
      if changes.count > 1 { worst.text += " (and \(counted(changes.count - 1, "other point")))" }
      return worst
    }
  }

  private mutating func lineChange(
    _ golden: Polyline, _ actual: Polyline, _ frame: FrameID
  ) -> [Change] {
    // In the mode `exact` the same shape with other vertices is a difference.
    guard let distance = golden.distance(to: actual, isInterrupted: isInterrupted) else {
      let count = counted(max(golden.vertices.count, actual.vertices.count), "vertex", "vertices")
      return [(.pointMoved, "its \(count) are too many to compare: return fewer", nil)]
    }
    let error = meter.measure(distance: distance, frame)
    guard !error.isAllowed else { return [] }
    guard distance.isFinite else { return [(.pointMoved, "one of the two has no place", error)] }
    guard distance > 0 else { return [(.pointMoved, "its vertices differ", error)] }
    return [(.pointMoved, "moved by \(FixedDecimal(distance, decimals: 3).text) px", error)]
  }

  /// The mean difference of the four sides of the bounds, in pixels.
  private static func boundsDistance(
    _ golden: [ObservationLine.Vertex], _ actual: [ObservationLine.Vertex]
  ) -> Double {
    let sides = [golden, actual].map { vertices -> [Double] in
      let (xs, ys) = (vertices.map(\.x.value), vertices.map(\.y.value))
      return [xs.min(), xs.max(), ys.min(), ys.max()].map { $0 ?? .nan }
    }
    return zip(sides[0], sides[1]).reduce(0) { $0 + ($1.0 - $1.1).magnitude } / 4
  }

  private mutating func embeddingChange(
    _ golden: [UInt32], _ actual: [UInt32], _ frame: FrameID
  ) -> [Change] {
    guard golden.count == actual.count else {
      let count = counted(actual.count, "element")
      return [(.embeddingChanged, "it has \(count) instead of \(golden.count)", nil)]
    }
    let distance = Self.cosineDistance(golden, actual)
    let error = observations.measureEmbedding(distance: distance, rule, frame)
    guard !error.isAllowed else { return [] }
    guard distance.isFinite else {
      return [(.embeddingChanged, "one of the two vectors has no direction", error)]
    }
    let text = FixedDecimal(distance, decimals: 6).text
    let isParallel = text == FixedDecimal(0, decimals: 6).text
    return [
      (
        .embeddingChanged,
        isParallel
          ? "other numbers in the same direction" : "cosine distance \(text)",
        error
      )
    ]
  }

  private mutating func fieldChange(
    _ golden: ObservationLine.Content, _ actual: ObservationLine.Content, _ frame: FrameID
  ) -> [Change] {
    guard let left = golden.json, let right = actual.json else { return [] }
    var numbers: [(Double, Double)] = []
    let meter = self.meter
    let found = JSONDifferences(left, right) { mine, theirs in
      numbers.append((mine, theirs))
      return meter.look(exact: mine, theirs)
    }
    for (mine, theirs) in numbers { self.meter.noteExact(mine, theirs, frame) }
    guard let first = found.fields.first else { return [] }
    let more = found.fields.count - 1
    let text =
      "differs \(first.words)"
      + (more > 0 ? " (and in \(counted(more, "other field")))" : "")
    return [(.fieldChanged, text, first.error)]
  }

  /// 0 to 2; infinite if the vectors have different lengths, or one of them has no direction.
  private static func cosineDistance(_ left: [UInt32], _ right: [UInt32]) -> Double {
    guard left.count == right.count else { return .infinity }
    var (dot, mine, theirs) = (0.0, 0.0, 0.0)
    for (bits, other) in zip(left, right) {
      let (a, b) = (Double(Float(bitPattern: bits)), Double(Float(bitPattern: other)))
      dot += a * b
      mine += a * a
      theirs += b * b
    }
    let distance = 1 - dot / (mine.squareRoot() * theirs.squareRoot())
    return distance.isFinite ? max(0, distance) : .infinity
  }
}

extension ObservationLine {
  /// `the mask person #4`.
  fileprivate var words: String {
    let kind =
      switch content {
      case .mask: "mask"
      case .points: "set of points"
      case .polyline(_, let isClosed): isClosed ? "polygon" : "polyline"
      case .image: "image"
      case .embedding: "embedding"
      case .json: "JSON value"
      }
    return "the \(kind) \(label)" + (identity.map { " #\($0)" } ?? "")
  }
}

extension Polyline {
  fileprivate init(_ vertices: [ObservationLine.Vertex], _ isClosed: Bool) {
    self.init(vertices.map { SIMD2($0.x.value, $0.y.value) }, isClosed: isClosed)
  }
}

extension ObservationLine.Content {
  /// The vertices, runs or elements that a comparison reads.
  fileprivate var count: Int {
    switch self {
    case .mask(let mask): mask.runs.count
    case .points(let points, _): points.count
    case .polyline(let vertices, _): vertices.count
    case .embedding(let elements): elements.count
    case .image, .json: 1
    }
  }

  fileprivate var json: JSONValue? {
    guard case .json(let text) = self else { return nil }
    return try? JSONValue(parsing: Data(text.utf8))
  }
}
