/// Scores of classes that need no further function: from a classifier that ends in a softmax, or
/// from a tree ensemble (`ai.onnx.ml`), whose first output is the number of the best class.
struct ProbabilitiesDecoder: OutputDecoder {
  let name = DecoderName.probabilities
  static let expectedShapes =
    "an output of 1xn, a score for each of n classes; the class itself may come before it"
  private let settings: DecoderSettings

  init(_ settings: DecoderSettings) { self.settings = settings }

  func accepts(_ shapes: [[Int?]]) -> Bool {
    switch shapes.count {
    case 1: ClassScores.accepts(shapes[0])
    case 2: shapes[0].fits([1]) && ClassScores.accepts(shapes[1])
    default: false
    }
  }

  func read(
    _ outputs: DecoderInputs, _ geometry: ImageGeometry
  ) throws -> Decoded {
    let last = outputs.shapes.count - 1
    guard outputs.isFloatingPoint(last) else {
      throw DecodingMismatch.type(decoder: name, output: last)
    }
    let scores = try ClassScores(try ClassScores.finite(outputs, last), settings, outputs)
    return .classes(scores.best(settings.topK, above: settings.confidenceThreshold))
  }
}
