package import RetakeCore
package import RetakeGraph

/// Computes a model in an ONNX file, such as a tree ensemble, from the numbers of a stage.
///
/// `input` of the node or the sidecar has the names of the numbers in `features`. A frame that
/// lacks one of them fails: no number is made up.
package struct Regress: PureStage, ModelStage {
  package static let kind = "regress"
  package static let summary = "computes numbers from numbers with a model in an ONNX file"

  package let options: ModelOptions
  private let loaded: LoadedModel
  private let features: FeatureModel

  /// Loads the model.
  ///
  /// - Throws: `OptionError`, `InferenceError`, `ModelDocumentError`, `DecodingMismatch`.
  package init(options: ModelOptions) throws {
    try self.init(options: options, at: options.model)
  }

  /// Loads the model from another place than the options say.
  init(options: ModelOptions, at place: String) throws {
    loaded = try LoadedModel(options, at: place)
    features = try FeatureModel(
      of: loaded.model, at: options.model, options: loaded.values, sidecar: loaded.sidecar)
    try features.check(loaded.model.outputs)
    self.options = options
  }

  package var fingerprint: String { loaded.fingerprint + features.fingerprint }
  package var modelFiles: [String: String] { loaded.files }
  package var modelDevice: ModelDevice? { loaded.device }

  package func process(_ numbers: Scalars, _ context: StageContext) throws -> Scalars {
    do {
      return try features.scalars(try loaded.run([try features.tensor(numbers)]))
    } catch {
      throw StageError(ofModel: error)
    }
  }
}
