/// Logits of classes, the best labels first. `softmax` is for classes that exclude each other;
/// `sigmoidMultilabel` is the sigmoid of each logit, and keeps all labels above the threshold.
struct LogitsDecoder: OutputDecoder {
  static let expectedShapes = "one output of 1xn, a logit for each of n classes"
  let name: DecoderName
  let settings: DecoderSettings

  func accepts(_ shapes: [[Int?]]) -> Bool {
    shapes.count == 1 && ClassScores.accepts(shapes[0])
  }

  func read(_ outputs: DecoderInputs, _ geometry: ImageGeometry) throws -> Decoded {
    let logits = try ClassScores.finite(outputs, 0)
    let (scores, count) =
      name == .softmax
      ? (Self.softmax(logits), settings.topK)
      : (logits.map(ExactExponential.sigmoid), logits.count)
    return .classes(
      try ClassScores(scores, settings, outputs).best(count, above: settings.confidenceThreshold))
  }

  private static func softmax(_ logits: [Double]) -> [Double] {
    // Without the largest the exponentials could be infinite; the quotients are the same.
    let largest = logits.max() ?? 0
    let powers = logits.map { ExactExponential.exp($0 - largest) }
    let sum = powers.reduce(0, +)
    return powers.map { $0 / sum }
  }
}
