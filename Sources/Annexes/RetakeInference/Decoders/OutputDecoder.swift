package import RetakeCore

/// What a model found in one frame.
package enum Decoded: Hashable, Sendable {
  /// Boxes in pixels of the frame, clipped at its edges, the best first.
  ///
  /// `landmarks` has one list for each detection, in pixels of the frame and not clipped; it is
  /// empty if the model gives none.
  case detections(Detections, landmarks: [[ImagePoint]])
  case classes(Classes)
  case scalars(Scalars)
}

/// Turns the outputs of a model into detections, classes or numbers.
package protocol OutputDecoder: Sendable {
  static var name: DecoderName { get }
  /// The shapes that it reads, in words: `1x(4+n)xm`.
  static var expectedShapes: String { get }

  init(_ settings: DecoderSettings)

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
      throw DecodingMismatch.type(decoder: Self.name, output: index)
    }
  }

  /// Decodes the outputs of one frame.
  package func decode(
    _ outputs: [ModelTensor], _ geometry: ImageGeometry
  ) throws -> Decoded {
    try require(outputs.map { $0.shape.map(Optional.some) })
    return try read(DecoderInputs(outputs, Self.name), geometry)
  }

  func require(_ shapes: [[Int?]]) throws {
    guard !accepts(shapes) else { return }
    throw DecodingMismatch.shapes(decoder: Self.name, expected: Self.expectedShapes, actual: shapes)
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
    case .softmax: SoftmaxDecoder(settings)
    case .sigmoidMultilabel: MultilabelDecoder(settings)
    case .probabilities: ProbabilitiesDecoder(settings)
    case .regression: RegressionDecoder(settings)
    }
  }
}

/// The options of decoders. Each reads those that it needs.
package struct DecoderSettings: Hashable, Sendable {
  /// Pixels of the model's input.
  package var width: Int
  package var height: Int
  /// Names of classes, or the characters of a text model. May be empty.
  package var labels: [String] = []
  /// The labels of the classes that are kept; empty for all.
  package var classes: [String] = []
  /// A score must be above it.
  package var confidenceThreshold: Double = 0.5
  /// A box is removed if its intersection over union with a better one is above it.
  package var iouThreshold: Double = 0.5
  package var maxDetections = 300
  /// Whether boxes of different classes remove each other.
  package var isClassAgnostic = false
  /// How many labels of a frame are kept.
  package var topK = 5
  /// Pixels of the input from a cell to the next, for each layer; empty for the decoder's own.
  package var strides: [Int] = []
  /// The level of a probability map above which a pixel is text.
  package var pixelThreshold: Double = 0.3
  /// How far a text box grows: area × ratio / perimeter.
  package var unclipRatio: Double = 1.6
  /// Whether text grows by a pixel to the right and below before it is taken apart.
  package var usesDilation = false

  package init(width: Int, height: Int) {
    (self.width, self.height) = (width, height)
  }

  /// The name of a class; its number if it has none.
  func label(_ index: Int) -> String {
    labels.indices.contains(index) ? labels[index] : String(index)
  }
}
