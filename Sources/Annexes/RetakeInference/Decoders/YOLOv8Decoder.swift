import RetakeCore

/// YOLOv8 to YOLO11: one column a box, with its middle, its size, and a score in [0, 1] for each
/// class. A box has its best class; among equal scores, the first class.
struct YOLOv8Decoder: OutputDecoder {
  let name = DecoderName.yoloV8
  static let expectedShapes = "one output of 1x(4+n)xm, a score for each of n classes"
  private let settings: DecoderSettings

  init(_ settings: DecoderSettings) { self.settings = settings }

  func accepts(_ shapes: [[Int?]]) -> Bool {
    guard shapes.count == 1, shapes[0].fits([1, nil, nil]), shapes[0].has(1, atLeast: 5) else {
      return false
    }
    // The transposed output, 1xmx(4+n), has the wrong number of classes.
    return settings.labels.isEmpty || (shapes[0][1] ?? 0) == 0
      || shapes[0][1] == 4 + settings.labels.count
  }

  func read(
    _ outputs: DecoderInputs, _ geometry: ImageGeometry
  ) throws -> Decoded {
    let values = outputs.floats(0)
    let (rows, columns) = (outputs.shapes[0][1], outputs.shapes[0][2])
    var best = [Float](repeating: -.infinity, count: columns)
    var classes = [Int32](repeating: 0, count: columns)
    // Row by row, which is the order of the memory.
    for row in 4..<rows {
      for column in 0..<columns {
        let score = values[row &* columns &+ column]
        guard score.isFinite else {
          throw outputs.notFinite(score, 0, row * columns + column)
        }
        guard score > best[column] else { continue }
        best[column] = score
        classes[column] = Int32(row - 4)
      }
    }
    var found: [Candidate] = []
    for column in 0..<columns where Double(best[column]) > settings.confidenceThreshold {
      found.append(
        Candidate(
          box: Box(
            middleX: try outputs.finite(values, column, of: 0),
            middleY: try outputs.finite(values, columns + column, of: 0),
            width: try outputs.finite(values, 2 * columns + column, of: 0),
            height: try outputs.finite(values, 3 * columns + column, of: 0)),
          score: Double(best[column]), classIndex: Int(classes[column]), index: column))
    }
    let filter = CandidateFilter(settings: settings)
    return filter.decoded(filter.suppressed(found), geometry)
  }
}
