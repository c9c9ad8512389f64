import Foundation
import RetakeCore
import RetakeMedia

/// A model in an ONNX file, computed by ONNX Runtime.
///
/// The session has one thread: with several, results depend on their number, and Retake's workers
/// compute several frames at once instead. Its other settings:
///
/// - no spinning, so that an idle session uses no time of the workers;
/// - no plan of memory for each shape of the inputs, because the library would keep one for each
///   size of a crop. The arena of memory stays: results do not depend on it;
/// - denormal numbers are kept. To flush them the library would change the mode of the calling
///   thread, and with it the results of our stages on that thread.
///
/// One model may be run by several threads at once, as the library documents of its sessions.
package final class OnnxModel: InferenceModel, @unchecked Sendable {
  // SAFETY: @unchecked because pointers are not Sendable. All properties are constant after init.
  // The session and the names live as long as this object, and only `deinit` releases them.

  /// The most bytes of a file; a message of protocol buffers may have twice as many.
  package static let fileBytesMax: Int64 = 1 << 30
  /// The most bytes of one input or output: an image of 89 megapixels as float.
  package static let tensorBytesMax = 1 << 30
  /// The most inputs, and the most outputs.
  package static let portsMax = 256
  package static let rankMax = 16
  /// The most entries of the metadata, and the most bytes of all of them.
  package static let metadataCountMax = 1024
  package static let metadataBytesMax = 1 << 22

  /// The path, as it was given.
  package let path: String
  /// SHA-256 of the file, in hexadecimal digits.
  package let sha256: String
  package let options: OnnxOptions
  package let library: OnnxLibrary
  package let inputs: [ModelPort]
  /// The outputs that are computed.
  package let outputs: [ModelPort]
  /// All outputs that the file declares, also outputs that no stage converts.
  package let declaredOutputs: [ModelPort]
  package let metadata: [String: String]

  private let session: OnnxObject
  private let inputNames: NameList
  private let outputNames: NameList

  /// Reads the file once and makes a session. The file may change or vanish afterwards.
  ///
  /// - Throws: As the initializer with bytes; also for a file that cannot be read.
  package convenience init(
    path: String, options: OnnxOptions = OnnxOptions(), library: OnnxLibrary
  ) throws {
    try self.init(bytes: try Self.read(path), path: path, options: options, library: library)
  }

  /// Makes a session.
  ///
  /// - Parameters:
  ///   - bytes: The content of the file.
  ///   - path: The file's path, for errors.
  /// - Throws: `InferenceError` for bytes that are not a usable model, and for options that the
  ///   library or the model does not fit.
  package init(
    bytes: [UInt8], path: String, options: OnnxOptions, library: OnnxLibrary
  ) throws {
    (self.path, self.options, self.library) = (path, options, library)
    sha256 = Sha256.digest(of: bytes)
    let reader = OnnxSessionReader(library: library, model: path)
    session = try reader.session(bytes, options)
    inputs = try reader.inputs(of: session.pointer)
    // By name, so that every run reports the same of several wrong names.
    for name in options.inputShapes.keys.sorted() {
      guard inputs.contains(where: { $0.name == name }) else {
        throw InferenceError.noInput(name, model: path, available: inputs.map(\.name))
      }
    }
    declaredOutputs = try reader.outputs(of: session.pointer)
    outputs = try Self.chosen(options.outputs, of: declaredOutputs, model: path)
    metadata = try reader.metadata(of: session.pointer)
    inputNames = NameList(inputs.map(\.name))
    outputNames = NameList(outputs.map(\.name))
    try checkPorts()
  }

  /// Identifies the computation: two models of one fingerprint return the same bits for the same
  /// tensors on processors of one `KernelClass`.
  package var fingerprint: String {
    "onnx 1 sha256=\(sha256) onnxruntime=\(library.version) library=\(library.digest) "
      + options.text
  }

  package func run(_ tensors: [ModelTensor]) throws -> [ModelTensor] {
    try check(tensors)
    // The library refuses a call without outputs.
    guard !outputs.isEmpty else { return [] }
    do {
      return try OnnxCall(library: library, outputs: outputs)
        .run(session.pointer, tensors, inputNames: inputNames, outputNames: outputNames)
    } catch let error as OnnxFailure {
      throw InferenceError(
        "inference.run.failed", "the model could not be computed", cause: error.message, at: path)
    }
  }

  private func check(_ tensors: [ModelTensor]) throws {
    guard tensors.count == inputs.count else {
      let needed = inputs.map(\.name)
      throw InferenceError(
        "inference.input.count",
        "the model has \(counted(needed.count, "input")) (\(needed.quotedList)), and "
          + "\(tensors.count) were "
          + "given",
        at: path)
    }
    for (tensor, port) in zip(tensors, inputs) {
      // The library would name one of the two types, and a number for the input.
      if let needed = port.type, tensor.elements.type != needed {
        throw InferenceError(
          "inference.input.type",
          "the input '\(port.name.shortened)' is of the type \(needed.rawValue), and "
            + "\(tensor.elements.type.rawValue) was given", at: path)
      }
      guard port.accepts(shape: tensor.shape) else {
        throw InferenceError(
          "inference.input.shape",
          "the input '\(port.name.shortened)' has the shape \(port.shape.shapeText), and "
            + "\(tensor.shape.map { $0 as Int? }.shapeText) was given", at: path,
          advice: "Scale and crop the frames to the shape of the input")
      }
    }
  }

  /// The bytes of a file that a person names.
  package static func read(_ path: String) throws -> [UInt8] {
    let bytes: [UInt8]
    do {
      // A link is followed, because a person names the file.
      bytes = Array(
        try RegularFile.contents(path, links: .followed, bytesMax: Self.fileBytesMax))
    } catch let error as RegularFile.Refusal {
      throw InferenceError(
        "inference.model.unreadable", "the model cannot be read", cause: error.description,
        at: path,
        advice: "Name an .onnx file, relative to the working folder")
    }
    return bytes
  }

  private static func chosen(
    _ names: [String]?, of all: [ModelPort], model: String
  ) throws -> [ModelPort] {
    guard let names else { return all }
    var chosen: [ModelPort] = []
    for name in names {
      guard let port = all.first(where: { $0.name == name }) else {
        throw InferenceError(
          "inference.output.missing", "the model has no output '\(name.shortened)'", at: model,
          advice: "It has \(all.map(\.name).quotedList)")
      }
      chosen.append(port)
    }
    return chosen
  }

  private func checkPorts() throws {
    for (ports, isInput) in [(inputs, true), (outputs, false)] {
      for port in ports {
        guard let type = port.type else {
          throw InferenceError(
            isInput ? "inference.input.unsupported" : "inference.output.unsupported",
            "the \(isInput ? "input" : "output") '\(port.name.shortened)' is of the type "
              + "\(port.typeName), which no stage converts",
            at: path,
            advice: isInput
              ? "Export the model with an input of float, double, uint8, int32 or int64"
              : "Name the outputs to compute in 'outputs', or export a classifier with the option "
                + "'zipmap': False")
        }
        let bytes = port.shape.compactMap(\.self).boundedProduct(
          times: type.byteCount, max: Self.tensorBytesMax)
        guard bytes != nil else {
          throw InferenceError.tooLarge(
            model: path,
            what: "the \(isInput ? "input" : "output") '\(port.name.shortened)' has the shape "
              + port.shape.shapeText, max: "\(Self.tensorBytesMax) bytes are used")
        }
      }
    }
  }
}

extension Sequence<Int> {
  /// The product of all; `nil` if it is larger than the bound or one number is negative.
  func boundedProduct(times first: Int, max: Int) -> Int? {
    var product = first
    // All numbers are looked at first: a zero among them makes the product small.
    if contains(0) { return allSatisfy { $0 >= 0 } ? 0 : nil }
    for number in self {
      let (next, isLarge) = product.multipliedReportingOverflow(by: number)
      guard number > 0, !isLarge, next <= max else { return nil }
      product = next
    }
    return product
  }
}
