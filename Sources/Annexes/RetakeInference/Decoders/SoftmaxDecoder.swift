import RetakeCore

/// Logits of classes that exclude each other: the softmax of the output, the best labels first.
struct SoftmaxDecoder: OutputDecoder {
  static let name = DecoderName.softmax
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
    // Without the largest the exponentials could be infinite; the quotients are the same.
    let largest = logits.max() ?? 0
    let powers = logits.map { ExactExponential.exp($0 - largest) }
    let sum = powers.reduce(0, +)
    let scores = try ClassScores(powers.map { $0 / sum }, settings, outputs)
    return .classes(scores.best(settings.topK, above: settings.confidenceThreshold))
  }
}
