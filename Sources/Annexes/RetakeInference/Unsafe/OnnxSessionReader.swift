import Foundation
import RetakeCore

/// Makes a session, and reads its model's inputs, outputs and metadata.
struct OnnxSessionReader {
  let library: OnnxLibrary
  let model: String

  private var functions: OnnxFunctions { library.functions }

  // MARK: The session

  func session(_ bytes: [UInt8], _ options: OnnxOptions) throws -> OnnxObject {
    try check(bytes)
    let bytes = try shaped(bytes, options)
    guard library.providers.contains(options.provider) else {
      throw InferenceError(
        "inference.provider.missing",
        "this ONNX Runtime has no execution provider '\(options.provider.shortened)'", at: model,
        advice: "It has \(library.providers.quotedList)")
    }
    do {
      let settings = try settings(options)
      return try functions.make(functions.releaseSession) { out in
        // SAFETY: the library copies the bytes that it keeps; `Array` calls with a pointer to all
        // of them, and they are not empty.
        bytes.withUnsafeBytes { buffer in
          functions.createSessionFromArray(
            library.environment, buffer.baseAddress ?? UnsafeRawPointer(out), buffer.count,
            settings.pointer, out)
        }
      }
    } catch let error as OnnxFailure {
      throw InferenceError.invalid(
        model: model, version: library.version, cause: error.message.oneLine,
        isSized: !options.inputShapes.isEmpty)
    }
  }

  private func check(_ bytes: [UInt8]) throws {
    do {
      try OnnxFile(bytes).check()
    } catch let error as OnnxFile.Problem {
      switch error {
      case .external(let file): throw InferenceError.external(model: model, file: file)
      case .malformed(let cause):
        throw InferenceError.invalid(model: model, version: library.version, cause: cause)
      }
    }
  }

  private func shaped(
    _ bytes: [UInt8], _ options: OnnxOptions
  ) throws -> [UInt8] {
    do {
      return try OnnxShapes(shapes: options.inputShapes).apply(to: bytes)
    } catch let error as ProtobufReader.Malformed {
      throw InferenceError.invalid(model: model, version: library.version, cause: error.cause)
    }
  }

  /// The session settings that the comment of `OnnxModel` lists.
  private func settings(_ options: OnnxOptions) throws -> OnnxObject {
    let settings = try functions.make(functions.releaseSessionOptions) {
      functions.createSessionOptions($0)
    }
    let pointer = settings.pointer
    try functions.check(functions.setExecutionMode(pointer, 0))
    try functions.check(functions.setIntraOpThreads(pointer, 1))
    try functions.check(functions.setInterOpThreads(pointer, 1))
    try functions.check(functions.setOptimizationLevel(pointer, options.optimization.level))
    try functions.check(functions.disableMemPattern(pointer))
    // The names come from onnxruntime_session_options_config_keys.h.
    for (key, value) in [
      ("session.intra_op.allow_spinning", "0"), ("session.inter_op.allow_spinning", "0"),
      ("session.set_denormal_as_zero", "0"),
      // Without this a file in the library's own format would be loaded without its checks.
      ("session.load_model_format", "ONNX"),
    ] {
      try functions.check(functions.setOption(pointer, key, value))
    }
    try append(options.provider, engine: options.engine, to: pointer)
    return settings
  }

  private func append(
    _ provider: String, engine: String? = nil, to settings: OpaquePointer
  ) throws {
    switch provider {
    case OnnxOptions.cpu: return
    case OnnxOptions.tensorRT:
      try appendTensorRT(engine: engine, to: settings)
      // TensorRT leaves the nodes that it does not know to the next provider.
      if library.providers.contains(OnnxOptions.cuda) { try append(OnnxOptions.cuda, to: settings) }
    case OnnxOptions.cuda:
      let options = try functions.make(functions.releaseCUDAOptions) {
        functions.createCUDAOptions($0)
      }
      try functions.check(functions.appendCUDA(settings, options.pointer))
    default:
      // The function expects the names of the list without their ending.
      let name =
        provider.hasSuffix("ExecutionProvider") ? String(provider.dropLast(17)) : provider
      try functions.check(functions.appendProvider(settings, name, nil, nil, 0))
    }
  }

  private func appendTensorRT(engine: String?, to settings: OpaquePointer) throws {
    let options = try functions.make(functions.releaseTensorRTOptions) {
      functions.createTensorRTOptions($0)
    }
    if let engine {
      // The names of TensorRT's options in ONNX Runtime's documentation. The library finds the
      // engine in its folder.
      let folder = (engine as NSString).deletingLastPathComponent
      let keys = NameList(["trt_engine_cache_enable", "trt_engine_cache_path"])
      let values = NameList(["1", folder.isEmpty ? "." : folder])
      // SAFETY: the library copies the texts; both lists live until it has.
      try withExtendedLifetime(keys) {
        try withExtendedLifetime(values) {
          try functions.check(
            functions.updateTensorRTOptions(options.pointer, keys.pointer, values.pointer, 2))
        }
      }
    }
    try functions.check(functions.appendTensorRT(settings, options.pointer))
  }

  // MARK: Inputs and outputs

  func inputs(of session: OpaquePointer) throws -> [ModelPort] {
    try ports(session, functions.inputCount, functions.inputName, functions.inputTypeInfo)
  }

  func outputs(of session: OpaquePointer) throws -> [ModelPort] {
    try ports(session, functions.outputCount, functions.outputName, functions.outputTypeInfo)
  }

  private func ports(
    _ session: OpaquePointer,
    _ count: @convention(c) (OpaquePointer, OnnxFunctions.Count) -> OnnxFunctions.Status,
    _ name:
      @convention(c) (OpaquePointer, Int, OpaquePointer, OnnxFunctions.TextOut) ->
      OnnxFunctions.Status,
    _ info: @convention(c) (OpaquePointer, Int, OnnxFunctions.Out) -> OnnxFunctions.Status
  ) throws -> [ModelPort] {
    do {
      let number: Int = try functions.number { count(session, $0) }
      guard (0...OnnxModel.portsMax).contains(number) else {
        throw OnnxFailure(
          message: "it has \(number) inputs or outputs; at most \(OnnxModel.portsMax) are used")
      }
      var ports: [ModelPort] = []
      for index in 0..<number {
        let text = try functions.text(library.allocator) {
          name(session, index, library.allocator, $0)
        }
        let type = try functions.make(functions.releaseTypeInfo) { info(session, index, $0) }
        ports.append(try port(text, type.pointer))
      }
      return ports
    } catch let error as OnnxFailure {
      throw InferenceError.invalid(
        model: model, version: library.version, cause: error.message.oneLine)
    }
  }

  private func port(_ name: String, _ info: OpaquePointer) throws -> ModelPort {
    let kind: Int32 = try functions.number { functions.onnxType(info, $0) }
    guard kind == OnnxType.tensor else {
      return ModelPort(name: name, type: nil, shape: [], typeName: OnnxType.kindName(kind))
    }
    // SAFETY: the tensor's information is a part of `info`, and is not released.
    var tensor: OpaquePointer?
    try functions.check(functions.tensorInfo(info, &tensor))
    guard let tensor else { throw OnnxFailure(message: "'\(name)' has no type") }
    let element: Int32 = try functions.number { functions.elementType(tensor, $0) }
    let shape = try functions.shape(tensor).map { $0 < 0 ? nil : Int($0) }
    return ModelPort(
      name: name, type: ModelTensor.ElementType(onnx: element), shape: shape,
      typeName: OnnxType.elementName(element))
  }

  // MARK: Metadata

  func metadata(of session: OpaquePointer) throws -> [String: String] {
    do {
      let metadata = try functions.make(functions.releaseMetadata) {
        functions.metadata(session, $0)
      }
      var (result, bytes) = ([String: String](), 0)
      for key in try keys(metadata.pointer) {
        let value = try functions.text(library.allocator) {
          functions.metadataValue(metadata.pointer, library.allocator, key, $0)
        }
        bytes += key.utf8.count + value.utf8.count
        guard bytes <= OnnxModel.metadataBytesMax else {
          throw OnnxFailure(
            message: "its metadata is longer than \(OnnxModel.metadataBytesMax) bytes")
        }
        result[key] = value
      }
      return result
    } catch let error as OnnxFailure {
      throw InferenceError.invalid(
        model: model, version: library.version, cause: error.message.oneLine)
    }
  }

  private func keys(_ metadata: OpaquePointer) throws -> [String] {
    var keys: OnnxFunctions.Texts?
    var count: Int64 = 0
    try functions.check(functions.metadataKeys(metadata, library.allocator, &keys, &count))
    guard let keys else { return [] }
    // SAFETY: the library allocated the array and each of its `count` strings for the caller.
    defer {
      for index in 0..<Int(count) {
        if let key = keys[index] { functions.free(key, library.allocator) }
      }
      functions.free(keys, library.allocator)
    }
    guard count <= OnnxModel.metadataCountMax else {
      throw OnnxFailure(
        message: "its metadata has \(count) entries; at most \(OnnxModel.metadataCountMax) are read"
      )
    }
    return (0..<Int(count)).compactMap { index in keys[index].map { String(cString: $0) } }
  }
}

extension OnnxFunctions {
  /// The lengths of a tensor's dimensions; negative if a length is not fixed.
  func shape(_ tensor: Object) throws -> [Int64] {
    let rank: Int = try number { dimensionCount(tensor, $0) }
    guard (0...OnnxModel.rankMax).contains(rank) else {
      throw OnnxFailure(
        message: "a tensor has \(rank) dimensions; at most \(OnnxModel.rankMax) are used")
    }
    var lengths = [Int64](repeating: 0, count: rank)
    // SAFETY: the library writes `rank` numbers.
    try check(dimensions(tensor, &lengths, rank))
    return lengths
  }
}

extension OnnxOptions.Optimization {
  fileprivate var level: Int32 {
    switch self {
    case .none: 0
    case .basic: 1
    case .extended: 2
    case .all: 99
    }
  }
}

extension String {
  /// The library's messages may have several lines.
  fileprivate var oneLine: String {
    split(whereSeparator: \.isNewline).joined(separator: " ")
  }
}
