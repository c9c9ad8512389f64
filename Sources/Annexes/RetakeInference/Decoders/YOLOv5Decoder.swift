import RetakeCore

/// YOLOv5 and YOLOv7: one row a box, with its middle, its size, an objectness, and a score for each
/// class, all of them in [0, 1] already.
///
/// The score of a class is objectness × class score. A box has its best class; among equal scores,
/// the first class (Ultralytics, `non_max_suppression` with one label a box).
struct YOLOv5Decoder: OutputDecoder {
  let name = DecoderName.yoloV5
  static let expectedShapes = "one output of 1xmx(5+n), a score for each of n classes"
  private let settings: DecoderSettings

  init(_ settings: DecoderSettings) { self.settings = settings }

  func accepts(_ shapes: [[Int?]]) -> Bool {
    shapes.count == 1 && shapes[0].fits([1, nil, nil]) && shapes[0].has(2, atLeast: 6)
  }

  func read(
    _ outputs: DecoderInputs, _ geometry: ImageGeometry
  ) throws -> Decoded {
    let rows = ObjectnessRows(outputs)
    try rows.requireLabels(settings.labels)
    var found: [Candidate] = []
    for row in 0..<rows.count {
      guard let best = try rows.best(row, above: settings.confidenceThreshold) else { continue }
      let place = try rows.place(row)
      found.append(
        Candidate(
          box: Box(
            middleX: place.x, middleY: place.y, width: place.width, height: place.height),
          score: best.score, classIndex: best.classIndex, index: row))
    }
    let filter = CandidateFilter(settings: settings)
    return filter.decoded(filter.suppressed(found), geometry)
  }
}

/// The rows of YOLOv5 and YOLOX: four numbers of a box, an objectness, class scores.
struct ObjectnessRows {
  let count: Int
  private let classes: Int
  private let values: [Float]
  private let outputs: DecoderInputs

  init(_ outputs: DecoderInputs) {
    self.outputs = outputs
    values = outputs.floats(0)
    count = outputs.shapes[0][1]
    classes = outputs.shapes[0][2] - 5
  }

  private var length: Int { 5 + classes }

  func requireLabels(_ labels: [String]) throws {
    guard labels.isEmpty || labels.count == classes else {
      throw outputs.labelsMismatch(expected: classes, actual: labels.count)
    }
  }

  /// The best class of a row; `nil` if its score is not above the threshold.
  func best(
    _ row: Int, above threshold: Double
  ) throws -> (score: Double, classIndex: Int)? {
    let objectness = try outputs.finite(values, row * length + 4, of: 0)
    var best = -Double.infinity
    var index = 0
    for number in 0..<classes {
      let score = try outputs.finite(values, row * length + 5 + number, of: 0)
      if score > best { (best, index) = (score, number) }
    }
    let score = objectness * best
    return score > threshold ? (score, index) : nil
  }

  /// The width and height of a box that are given as logarithms.
  func powers(_ row: Int) throws -> (width: Double, height: Double) {
    (
      try outputs.exponential(values, row * length + 2, of: 0),
      try outputs.exponential(values, row * length + 3, of: 0)
    )
  }

  /// The four numbers of a box, in the order x, y, width, height.
  func place(_ row: Int) throws -> Box {
    let start = row * length
    return Box(
      x: try outputs.finite(values, start, of: 0), y: try outputs.finite(values, start + 1, of: 0),
      width: try outputs.finite(values, start + 2, of: 0),
      height: try outputs.finite(values, start + 3, of: 0))
  }
}
