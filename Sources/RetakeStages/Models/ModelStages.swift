package import RetakeBuffers
package import RetakeCore
package import RetakeGraph
import RetakeInference

/// Finds objects in each frame with a model in an ONNX file. docs/models.md says how the frame
/// becomes the model's input, and the outputs become boxes.
///
/// The boxes are in pixels of the frame, the best first. A frame for which the model cannot be
/// computed fails with the model's error, and the others go on.
package struct Detect: PureStage, ModelStage {
  package static let kind = "detect"
  package static let summary = "finds objects with a model in an ONNX file"

  package let options: ModelOptions
  private let runner: ModelRunner

  /// Loads the model.
  ///
  /// - Throws: `OptionError`, with the error of the model's file, sidecar or library.
  package init(options: ModelOptions) throws(OptionError) {
    runner = try ModelRunner.runner(options)
    try runner.require(Self.kind, gives: "boxes") { $0.result == .detections }
    self.options = options
  }

  package var fingerprint: String { runner.fingerprint }
  package var modelFiles: [String: String] { runner.files }

  package func process(
    _ frame: Frame, _ context: StageContext
  ) throws(StageError) -> Detections {
    guard case .detections(let found, _) = try runner.decoded(frame) else {
      requirementFailure("the decoder gives boxes, as was checked")
    }
    return found
  }
}

/// Names what each frame shows with a model in an ONNX file; see `Detect` and docs/models.md.
package struct Classify: PureStage, ModelStage {
  package static let kind = "classify"
  package static let summary = "names what a frame shows with a model in an ONNX file"

  package let options: ModelOptions
  private let runner: ModelRunner

  /// Loads the model.
  ///
  /// - Throws: `OptionError`, with the error of the model's file, sidecar or library.
  package init(options: ModelOptions) throws(OptionError) {
    runner = try ModelRunner.runner(options)
    try runner.require(Self.kind, gives: "classes") { $0.result == .classes }
    self.options = options
  }

  package var fingerprint: String { runner.fingerprint }
  package var modelFiles: [String: String] { runner.files }

  package func process(_ frame: Frame, _ context: StageContext) throws(StageError) -> Classes {
    guard case .classes(let classes) = try runner.decoded(frame) else {
      requirementFailure("the decoder gives classes, as was checked")
    }
    return classes
  }
}

/// Computes numbers from each frame with a model in an ONNX file; see `Detect` and docs/models.md.
package struct Infer: PureStage, ModelStage {
  package static let kind = "infer"
  package static let summary = "computes numbers with a model in an ONNX file"

  package let options: ModelOptions
  private let runner: ModelRunner

  /// Loads the model.
  ///
  /// - Throws: `OptionError`, with the error of the model's file, sidecar or library.
  package init(options: ModelOptions) throws(OptionError) {
    runner = try ModelRunner.runner(options)
    try runner.require(Self.kind, gives: "numbers") { $0.result == .scalars }
    self.options = options
  }

  package var fingerprint: String { runner.fingerprint }
  package var modelFiles: [String: String] { runner.files }

  package func process(_ frame: Frame, _ context: StageContext) throws(StageError) -> Scalars {
    guard case .scalars(let scalars) = try runner.decoded(frame) else {
      requirementFailure("the decoder gives numbers, as was checked")
    }
    return scalars
  }
}
