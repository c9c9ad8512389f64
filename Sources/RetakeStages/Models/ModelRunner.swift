import Foundation
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
    model = try Self.load(options, values, sidecar)
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

  /// - Throws: `InferenceError`.
  static func load(
    _ options: ModelOptions, _ values: ModelValues, _ sidecar: ModelSidecar?
  ) throws(InferenceError) -> OnnxModel {
    let library = try OnnxLibrary.load()
    var own = OnnxOptions(provider: options.provider)
    let model = try OnnxModel(path: options.model, options: own, library: library)
    own.inputShapes = inputShapes(of: model, values, sidecar)
    guard !own.inputShapes.isEmpty else { return model }
    return try OnnxModel(path: options.model, options: own, library: library)
  }

  /// The shapes of inputs that are computed in another one than the file declares. Some files
  /// declare the shape of the picture that they were exported with, and compute any.
  static func inputShapes(
    of model: any ModelDescription, _ values: ModelValues, _ sidecar: ModelSidecar?
  ) -> [String: [Int?]] {
    guard let size = values.size ?? sidecar?.values.size, model.inputs.count == 1,
      let port = model.inputs.first, port.shape.count == 4
    else { return [:] }
    let isNHWC = (values.layout ?? sidecar?.values.layout ?? .nchw) == .nhwc
    let channels = (isNHWC ? port.shape[3] : port.shape[1]) ?? 3
    let shape =
      isNHWC
      ? [1, size.height, size.width, channels] : [1, channels, size.height, size.width]
    return port.accepts(shape: shape) ? [:] : [port.name: shape.map { $0 }]
  }

  /// Everything besides the frame on which the outputs depend.
  var fingerprint: String {
    let rows = settings.rows.map { " \($0.key)=\($0.value)" }.joined()
    // The library chooses its kernels by the processor, and they differ in the last bits.
    return "\(model.fingerprint) kernels=\(KernelClass.current.rawValue)\(rows)"
  }

  /// - Throws: `OptionError` unless the decoder gives what the stage returns.
  func require(
    _ kind: String, gives what: String, _ isRight: (DecoderName) -> Bool
  ) throws(OptionError) {
    guard !isRight(settings.decoderName) else { return }
    let names = DecoderName.allCases.filter(isRight).map(\.rawValue).joined(separator: ", ")
    throw OptionError(
      key: "output/decoder",
      message: "is '\(settings.decoderName.rawValue)', which gives no \(what) for '\(kind)'; "
        + "those that do: \(names)")
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
    var files: [String]
  }

  private struct Shared {
    weak var runner: ModelRunner?
  }

  /// A document is read several times, and a model may take hundreds of megabytes: as long as a
  /// stage uses it, there is one.
  private static let runners = Locked<[Key: Shared]>([:])

  /// - Throws: `OptionError`, with the whole message of an error of the model's file, its sidecar or
  ///   the library.
  static func runner(_ options: ModelOptions) throws(OptionError) -> ModelRunner {
    guard !options.model.isEmpty else {
      throw OptionError(key: "model", message: "must name an .onnx file")
    }
    do {
      return try shared(options)
    } catch let error as OptionError {
      throw error
    } catch {
      // With its place, cause and advice, because an option has only its own place.
      throw OptionError(key: "model", message: "cannot be used: \(error)")
    }
  }

  private static func shared(_ options: ModelOptions) throws -> ModelRunner {
    let paths = [options.model, ModelSidecar.path(ofModel: options.model)]
    let key = Key(options: options, files: paths.map(Self.state))
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

  /// Changes whenever a file is replaced or written.
  private static func state(_ path: String) -> String {
    guard let facts = try? FileManager.default.attributesOfItem(atPath: path) else { return "" }
    let time = (facts[.modificationDate] as? Date)?.timeIntervalSinceReferenceDate ?? 0
    return "\(facts[.systemFileNumber] ?? 0) \(facts[.size] ?? 0) \(time)"
  }
}
