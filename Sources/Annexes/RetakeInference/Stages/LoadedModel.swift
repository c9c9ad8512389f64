import RetakeCore
import RetakeGraph

/// A model that is ready to compute, with its sidecar and the node's options.
struct LoadedModel: Sendable {
  let model: OnnxModel
  let sidecar: ModelSidecar?
  /// The values in the node's options.
  let values: ModelValues
  /// The device that computes the model; `nil` for the processor.
  let device: ModelDevice?
  private let modelled: ModelledDevice?
  /// Whether the model computes several images in one call, with the bits of single calls. Devices
  /// are left out: their kernels depend on the number of images.
  let takesBatches: Bool
  /// SHA-256 of the model and of its sidecar, by path.
  let files: [String: String]

  /// - Parameter place: The path at which the model is read; `nil` for the path in the options.
  /// - Throws: `OptionError`, `InferenceError`, `ModelDocumentError`.
  init(_ options: ModelOptions, at place: String? = nil) throws {
    guard !options.model.isEmpty else {
      throw OptionError(key: "model", message: "must name an .onnx file")
    }
    let place = place ?? options.model
    let values = try options.values()
    let provider = ModelProvider(options.provider)
    modelled = try provider.modelledDevice()
    device = try modelled?.device ?? provider.device()
    let sidecar = try ModelSidecar.read(nextTo: place)
    let library = try OnnxLibrary.load()
    let bytes = try OnnxModel.read(place)
    // Of a file that is not a model, the library's error says more.
    let outline = try? OnnxOutline(bytes, model: options.model)
    let shapes = outline.map {
      ModelSettings.otherShapes(of: $0, options: values, sidecar: sidecar)
    }
    model = try OnnxModel(
      bytes: bytes, path: options.model,
      options: OnnxOptions(
        provider: provider.libraryName, engine: provider.engine, inputShapes: shapes ?? [:]),
      library: library)
    try sidecar?.check(sha256: model.sha256, ofModel: options.model)
    (self.values, self.sidecar) = (values, sidecar)
    takesBatches = device == nil && outline?.isBatched == true && shapes?.isEmpty == true
    files = [
      options.model: model.sha256,
      ModelSidecar.path(ofModel: options.model): sidecar?.documentSHA256,
    ].compactMapValues(\.self)
  }

  /// Identifies the computation: the model, the library, and the processor's kind.
  var fingerprint: String {
    // The library chooses its kernels by the processor, and they differ in the last bits.
    "\(model.fingerprint) kernels=\(KernelClass.current.rawValue)"
      + ((modelled?.fingerprint ?? device?.description).map { " device=\($0)" } ?? "")
  }

  /// Computes all outputs, with the noise of a modelled device.
  ///
  /// - Throws: As `InferenceModel.run(_:)`.
  func run(_ tensors: [ModelTensor]) throws -> [ModelTensor] {
    let outputs = try model.run(tensors)
    return modelled?.rounded(outputs, for: tensors) ?? outputs
  }
}

extension StageError {
  /// Why a model returned no result for a frame.
  init(ofModel error: any Error) {
    if let error = error as? any CodedError {
      self.init(code: error.code, message: error.description)
    } else {
      // Code of a model throws only coded errors.
      self.init(code: "inference.run.failed", message: error.causeText)
    }
  }
}
