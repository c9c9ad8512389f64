import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeInference

/// A model with what belongs before and after it, ready for frames. Several threads may use it.
final class ModelRunner: Sendable {
  let model: OnnxModel
  let settings: ModelSettings
  let preprocessor: Preprocessor
  let decoder: any OutputDecoder
  /// SHA-256 of the model and of its sidecar, by path.
  let files: [String: String]

  /// Loads the model, and checks that what is said about it fits.
  ///
  /// - Throws: `OptionError`, `InferenceError`, `ModelDocumentError`, `DecodingMismatch`.
  init(_ options: ModelOptions) throws {
    let values = try options.values()
    let sidecar = try ModelSidecar.read(nextTo: options.model)
    let library = try OnnxLibrary.load()
    let bytes = try OnnxModel.read(options.model)
    // Of a file that is not a model, the library's error says more.
    let outline = try? OnnxOutline(bytes, model: options.model)
    let shapes = outline.map {
      ModelSettings.otherShapes(of: $0, options: values, sidecar: sidecar)
    }
    model = try OnnxModel(
      bytes: bytes, path: options.model,
      options: OnnxOptions(provider: options.provider, inputShapes: shapes ?? [:]),
      library: library)
    try sidecar?.check(sha256: model.sha256, ofModel: options.model)
    files = [
      options.model: model.sha256,
      ModelSidecar.path(ofModel: options.model): sidecar?.documentSHA256,
    ].compactMapValues(\.self)
    settings = try ModelSettings(
      of: model, at: options.model, options: values, sidecar: sidecar)
    decoder = try settings.decoder(for: model.outputs)
    preprocessor = Preprocessor(settings.input)
  }

  /// Everything besides the frame on which the outputs depend.
  var fingerprint: String {
    // The library chooses its kernels by the processor, and they differ in the last bits.
    "\(model.fingerprint) kernels=\(KernelClass.current.rawValue)\(settings.fingerprint)"
  }

  /// - Throws: `OptionError` unless the decoder gives what a stage of this kind returns.
  func require(_ result: DecoderName.Result, in kind: String) throws(OptionError) {
    guard settings.decoderName.result != result else { return }
    let names = DecoderName.allCases.filter { $0.result == result }.map(\.rawValue)
    throw OptionError(
      key: "output/decoder",
      message: "is '\(settings.decoderName.rawValue)', which gives no \(result.word) for "
        + "'\(kind)'; those that do: \(names.joined(separator: ", "))")
  }

  /// - Throws: `StageError` if the model cannot be computed for this frame, or gives numbers that
  ///   are none.
  func decoded(_ frame: Frame) throws(StageError) -> Decoded {
    let prepared = preprocessor.prepare(frame)
    do {
      return try decoder.decode(try model.run([prepared.tensor]), prepared.geometry)
    } catch let error as any CodedError {
      throw StageError(code: error.code, message: error.description)
    } catch {
      // Both throw coded errors alone.
      throw StageError(code: "inference.run.failed", message: "\(error)")
    }
  }
}

extension ModelRunner {
  /// What makes two runners the same: the options, and the files as they are now.
  private struct Key: Hashable {
    var options: ModelOptions
    /// `nil` for a file that is not there.
    var files: [RegularFile.Facts?]
  }

  private struct Shared {
    weak var runner: ModelRunner?
  }

  /// A document is read several times, and a model may take hundreds of megabytes: as long as a
  /// stage uses it, there is one.
  private static let runners = Locked<[Key: Shared]>([:])

  /// - Throws: As `init`.
  static func runner(_ options: ModelOptions) throws -> ModelRunner {
    guard !options.model.isEmpty else {
      throw OptionError(key: "model", message: "must name an .onnx file")
    }
    let paths = [options.model, ModelSidecar.path(ofModel: options.model)]
    let key = Key(
      options: options, files: paths.map { try? RegularFile.facts(of: $0, links: .followed) })
    if let runner = runners.withLock({ $0[key]?.runner }) { return runner }
    let runner = try ModelRunner(options)
    return runners.withLock { all in
      all = all.filter { $0.value.runner != nil }
      // Another thread may have loaded the same meanwhile.
      if let first = all[key]?.runner { return first }
      all[key] = Shared(runner: runner)
      return runner
    }
  }
}
