package import RetakeBuffers
package import RetakeCore
package import RetakeGraph
import RetakeStages

/// Computes a model in an ONNX file for each frame. docs/models.md says how the frame becomes the
/// model's input, and how the outputs become a result.
///
/// If the model cannot be computed for a frame, that frame fails with the model's error, and the
/// other frames continue.
package struct OnnxStage<Found: ModelResult>: LoadedBatchStage, ModelStage {
  package static var kind: String { Found.modelKind }
  package static var summary: String { Found.modelSummary }

  package let options: ModelOptions
  private let runner: ModelRunner

  /// Loads the model.
  ///
  /// - Throws: `OptionError`, `InferenceError`, `ModelDocumentError`, `DecodingMismatch`.
  package init(options: ModelOptions) throws {
    try self.init(options: options, at: options.model)
  }

  /// Loads the model from another place than the options say.
  init(options: ModelOptions, at place: String) throws {
    runner = try ModelRunner.runner(options, at: place)
    try runner.require(Found.decoded, in: Self.kind)
    self.options = options
  }

  package var fingerprint: String { runner.fingerprint }
  package var modelFiles: [String: String] { runner.files }
  package var modelDevice: ModelDevice? { runner.device }
  package var takesBatches: Bool { runner.takesBatches }

  package func process(_ frame: Frame, _ context: StageContext) throws -> Found {
    found(try runner.decoded(frame))
  }

  package func process(batch: [(input: Frame, context: StageContext)]) throws -> [Found] {
    try runner.decoded(batch: batch.map(\.input)).map(found)
  }

  private func found(_ decoded: Decoded) -> Found {
    guard let found = Found(decoded) else {
      requirementFailure("the decoder gives \(Found.decoded), as was checked")
    }
    return found
  }
}

/// Finds objects in each frame: boxes in pixels of the frame, the best first.
package typealias Detect = OnnxStage<Detections>
/// Classifies each frame.
package typealias Classify = OnnxStage<Classes>
/// Computes numbers from each frame.
package typealias Infer = OnnxStage<Scalars>

/// The value that a model's outputs become.
package protocol ModelResult: PipelineValue {
  static var modelKind: String { get }
  static var modelSummary: String { get }
  /// The kind of result; decoders of this kind can be used.
  static var decoded: DecoderName.Result { get }

  /// `nil` if the decoder returned another kind of result.
  init?(_ decoded: Decoded)
}

extension Detections: ModelResult {
  package static var modelKind: String { "detect" }
  package static var modelSummary: String { "finds objects with a model in an ONNX file" }
  package static var decoded: DecoderName.Result { .detections }

  package init?(_ decoded: Decoded) {
    guard case .detections(let found, _) = decoded else { return nil }
    self = found
  }
}

extension Classes: ModelResult {
  package static var modelKind: String { "classify" }
  package static var modelSummary: String {
    "classifies a frame with a model in an ONNX file"
  }
  package static var decoded: DecoderName.Result { .classes }

  package init?(_ decoded: Decoded) {
    guard case .classes(let classes) = decoded else { return nil }
    self = classes
  }
}

extension Scalars: ModelResult {
  package static var modelKind: String { "infer" }
  package static var modelSummary: String { "computes numbers with a model in an ONNX file" }
  package static var decoded: DecoderName.Result { .scalars }

  package init?(_ decoded: Decoded) {
    guard case .scalars(let scalars) = decoded else { return nil }
    self = scalars
  }
}
