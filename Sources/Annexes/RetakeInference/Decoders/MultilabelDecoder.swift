import RetakeCore

/// Logits of classes that do not exclude each other: the sigmoid of each, all labels above the
/// threshold, the best first.
struct MultilabelDecoder: OutputDecoder {
  static let name = DecoderName.sigmoidMultilabel
  static let expectedShapes = "one output of 1xn, a logit for each of n classes"
  private let settings: DecoderSettings

  init(_ settings: DecoderSettings) { self.settings = settings }

  func accepts(_ shapes: [[Int?]]) -> Bool {
    shapes.count == 1 && ClassScores.accepts(shapes[0])
  }

  func read(
    _ outputs: DecoderInputs, _ geometry: ImageGeometry
  ) throws -> Decoded {
    let logits = try ClassScores.finite(outputs, 0)
    let scores = try ClassScores(logits.map(ExactExponential.sigmoid), settings, outputs)
    return .classes(scores.best(logits.count, above: settings.confidenceThreshold))
  }
}
