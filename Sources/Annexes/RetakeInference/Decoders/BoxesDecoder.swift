import RetakeCore

/// Boxes that the model has already filtered: left, top, right, bottom, score, class, in pixels of
/// the model's input. The decoder does no suppression.
///
/// Ultralytics exports this form with `nms=True`, and so do end-to-end models.
struct BoxesDecoder: OutputDecoder {
  let name = DecoderName.boxes
  static let expectedShapes = "one output of 1xmx6 or mx6"
  private let settings: DecoderSettings

  init(_ settings: DecoderSettings) { self.settings = settings }

  func accepts(_ shapes: [[Int?]]) -> Bool {
    shapes.count == 1 && (shapes[0].fits([1, nil, 6]) || shapes[0].fits([nil, 6]))
  }

  func read(
    _ outputs: DecoderInputs, _ geometry: ImageGeometry
  ) throws -> Decoded {
    let values = outputs.floats(0)
    var found: [Candidate] = []
    for row in 0..<values.count / 6 {
      let score = try outputs.finite(values, 6 * row + 4, of: 0)
      guard score > settings.confidenceThreshold else { continue }
      var edges: [Double] = []
      for edge in 0..<4 { edges.append(try outputs.finite(values, 6 * row + edge, of: 0)) }
      let number = try outputs.finite(values, 6 * row + 5, of: 0)
      // A class is a small number of 0 or more; anything else would not be an index.
      guard let classIndex = Int(exactly: number.rounded()), (0...1_000_000).contains(classIndex)
      else { throw outputs.notFinite(Float(number), 0, 6 * row + 5) }
      found.append(
        Candidate(
          box: Box(
            x: edges[0], y: edges[1], width: edges[2] - edges[0], height: edges[3] - edges[1]),
          score: score, classIndex: classIndex, index: row))
    }
    let filter = CandidateFilter(settings: settings)
    return filter.decoded(filter.best(found), geometry)
  }
}
