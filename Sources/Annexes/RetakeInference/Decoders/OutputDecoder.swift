/// Turns the outputs of a model into detections, classes or numbers.
package protocol OutputDecoder: Sendable {
  var name: DecoderName { get }
  /// The shapes that it reads, in words: `1x(4+n)xm`.
  static var expectedShapes: String { get }

  /// Whether outputs of these shapes can be read. `nil` is a dimension that is not known yet.
  func accepts(_ shapes: [[Int?]]) -> Bool

  /// Reads outputs whose shapes were accepted.
  func read(
    _ outputs: DecoderInputs, _ geometry: ImageGeometry
  ) throws -> Decoded
}

extension OutputDecoder {
  /// Checks a model before its first frame.
  package func check(_ outputs: [ModelPort]) throws {
    try require(outputs.map(\.shape))
    for (index, output) in outputs.enumerated() where output.type == nil {
      throw DecodingMismatch.type(decoder: name, output: index)
    }
  }

  /// Decodes the outputs of one frame.
  package func decode(
    _ outputs: [ModelTensor], _ geometry: ImageGeometry
  ) throws -> Decoded {
    try require(outputs.map { $0.shape.map(Optional.some) })
    return try read(DecoderInputs(outputs, name), geometry)
  }

  func require(_ shapes: [[Int?]]) throws {
    guard !accepts(shapes) else { return }
    throw DecodingMismatch.shapes(decoder: name, expected: Self.expectedShapes, actual: shapes)
  }
}

extension DecoderName {
  package func decoder(_ settings: DecoderSettings) -> any OutputDecoder {
    switch self {
    case .boxes: BoxesDecoder(settings)
    case .yoloV5: YOLOv5Decoder(settings)
    case .yoloV8: YOLOv8Decoder(settings)
    case .yolox: YOLOXDecoder(settings)
    case .ssdAnchors: SSDAnchorsDecoder(settings)
    case .centerface: CenterFaceDecoder(settings)
    case .dbText: DBTextDecoder(settings)
    case .ctcText: CTCTextDecoder(settings)
    case .softmax, .sigmoidMultilabel: LogitsDecoder(name: self, settings: settings)
    case .probabilities: ProbabilitiesDecoder(settings)
    case .regression: RegressionDecoder(settings)
    }
  }
}
