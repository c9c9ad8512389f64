import RetakeBuffers
import RetakeCore
import RetakeGraph

/// A model with its preprocessing and its decoder, ready for frames. Several threads may use it.
final class ModelRunner: Sendable {
  private let loaded: LoadedModel
  let settings: ModelSettings
  let preprocessor: Preprocessor
  let decoder: any OutputDecoder

  /// Loads the model, and checks that the options and the sidecar fit it.
  ///
  /// - Parameter place: The path at which the model is read; `nil` for the path in the options.
  /// - Throws: `OptionError`, `InferenceError`, `ModelDocumentError`, `DecodingMismatch`.
  init(_ options: ModelOptions, at place: String? = nil) throws {
    loaded = try LoadedModel(options, at: place)
    settings = try ModelSettings(
      of: loaded.model, at: options.model, options: loaded.values, sidecar: loaded.sidecar)
    decoder = try settings.decoder(for: loaded.model.outputs)
    preprocessor = Preprocessor(settings.input)
  }

  var model: OnnxModel { loaded.model }
  /// The device that computes the model; `nil` for the processor.
  var device: ModelDevice? { loaded.device }
  /// Whether the model computes several frames in one call.
  var takesBatches: Bool { loaded.takesBatches }
  /// SHA-256 of the model and of its sidecar, by path.
  var files: [String: String] { loaded.files }
  /// Everything besides the frame on which the outputs depend.
  var fingerprint: String { loaded.fingerprint + settings.fingerprint }

  /// - Throws: `OptionError` unless the decoder returns the result of a stage of this kind.
  func require(_ result: DecoderName.Result, in kind: String) throws {
    guard settings.decoderName.result != result else { return }
    let names = DecoderName.allCases.filter { $0.result == result }.map(\.rawValue)
    throw OptionError(
      key: "output/decoder",
      message: "is '\(settings.decoderName.rawValue)', which returns no \(result.word) for "
        + "'\(kind)'; use one of: \(names.joined(separator: ", "))")
  }

  /// - Throws: `StageError` if the model cannot be computed for this frame, or an output contains
  ///   NaN or infinity.
  func decoded(_ frame: Frame) throws -> Decoded {
    let prepared = preprocessor.prepare(frame)
    do {
      return try decoder.decode(try loaded.run([prepared.tensor]), prepared.geometry)
    } catch {
      throw StageError(ofModel: error)
    }
  }

  /// Computes the frames in one call of the model.
  ///
  /// - Throws: If the model cannot be computed for one of the frames.
  func decoded(batch frames: [Frame]) throws -> [Decoded] {
    let prepared = frames.map { preprocessor.prepare($0) }
    let outputs = try loaded.run([ModelTensor(batch: prepared.map(\.tensor))])
    return try prepared.enumerated().map { index, prepared in
      try decoder.decode(
        try outputs.map { try $0.part(index, of: frames.count) }, prepared.geometry)
    }
  }
}

extension ModelRunner {
  /// Two runners with equal keys are the same: equal options, and unchanged files.
  private struct Key: Hashable {
    var options: ModelOptions
    var place: String
    var device: ModelledDevice?
    /// `nil` for a file that is not there.
    var files: [RegularFile.Facts?]
  }

  /// Shared, because a document is read several times, and a model may use hundreds of megabytes.
  private static let runners = SharedValues<Key, ModelRunner>()

  /// - Throws: As `init`.
  static func runner(_ options: ModelOptions, at place: String? = nil) throws -> ModelRunner {
    let place = place ?? options.model
    let provider = ModelProvider(options.provider)
    let paths =
      [place, ModelSidecar.path(ofModel: place)]
      + [provider.engine].compactMap(\.self)
    let key = Key(
      options: options, place: place, device: try provider.modelledDevice(),
      files: paths.map { try? RegularFile.facts(of: $0, links: .followed) })
    return try runners.value(of: key) { try ModelRunner(options, at: place) }
  }
}
