package import RetakeCore

/// An error of a model or of the library that runs it.
package enum InferenceError: RetakeError, Hashable {
  /// ONNX Runtime is not in any of the `LibraryPlaces`.
  case noLibrary
  /// A file that is not ONNX Runtime, or that the system's loader refuses.
  case foreignLibrary(path: String, cause: String)
  case oldLibrary(path: String, version: String)
  /// The library could not be set up.
  case libraryFailed(path: String, cause: String)

  case unreadable(model: String, cause: String)
  /// The file is not a model, or this version of the library cannot compute the model.
  case invalid(model: String, version: String, cause: String)
  /// The file is not a model, as can be seen without the library.
  case malformed(model: String, cause: String)
  /// A part of the model is in another file.
  case external(model: String, file: String)
  /// The model declares more than is read.
  case tooLarge(model: String, what: String, max: String)
  case noProvider(String, model: String, available: [String])
  case noInput(String, model: String, available: [String])
  case noOutput(String, model: String, available: [String])
  /// An input or output that no stage converts to.
  case unsupported(model: String, port: ModelPort, isInput: Bool)

  case inputCount(model: String, given: Int, needed: [String])
  case inputType(
    model: String, input: String, given: ModelTensor.ElementType, needed: ModelTensor.ElementType)
  case inputShape(model: String, input: String, given: [Int], needed: [Int?])
  /// A frame's numbers lack a number that the model reads.
  case noFeature(String, available: [String])
  /// A number that the model reads is NaN or infinite.
  case badFeature(String, value: String)
  /// The library could not compute the outputs.
  case failed(model: String, cause: String)

  package var facts: ErrorFacts {
    switch self {
    case .noLibrary:
      ErrorFacts(
        "inference.library.missing", "ONNX Runtime is not on this machine",
        advice: "Install it in a virtual environment: python3 -m venv .venv && "
          + ". .venv/bin/activate && pip install onnxruntime; or set \(LibraryPlaces.variable) to "
          + "its library")
    case .foreignLibrary(let path, let cause):
      ErrorFacts(
        "inference.library.foreign", "the file cannot be used as ONNX Runtime", cause: cause,
        at: path, advice: "Install it with 'pip install --force-reinstall onnxruntime'")
    case .oldLibrary(let path, let version):
      ErrorFacts(
        "inference.library.old",
        "ONNX Runtime \(version.shortened) is too old; \(OnnxLibrary.versionMin) or later is "
          + "needed",
        at: path, advice: "Update it with 'pip install --upgrade onnxruntime'")
    case .libraryFailed(let path, let cause):
      ErrorFacts(
        "inference.library.failed", "ONNX Runtime could not be set up", cause: cause, at: path,
        advice: "Install it with 'pip install --force-reinstall onnxruntime'")
    case .unreadable(let model, let cause):
      ErrorFacts(
        "inference.model.unreadable", "the model cannot be read", cause: cause, at: model,
        advice: "Name an .onnx file, relative to the working folder")
    case .invalid(let model, let version, let cause):
      ErrorFacts(
        "inference.model.invalid", "ONNX Runtime \(version) cannot load this file as a model",
        cause: cause, at: model,
        advice: "Export the model again, or update the library with "
          + "'pip install --upgrade onnxruntime'")
    case .malformed(let model, let cause):
      ErrorFacts(
        "inference.model.malformed", "the file is not a model in ONNX's format", cause: cause,
        at: model, advice: "Export or download the model again")
    case .external(let model, let file):
      ErrorFacts(
        "inference.model.external",
        "the model's numbers are in another file, '\(file.shortened)'", at: model,
        advice: "Save the model as one file: onnx.save(model, path, save_as_external_data=False)")
    case .tooLarge(let model, let what, let max):
      ErrorFacts(
        "inference.model.tooLarge", "\(what); at most \(max)", at: model,
        advice: "Export the model with smaller sizes")
    case .noProvider(let name, let model, let available):
      ErrorFacts(
        "inference.provider.missing",
        "this ONNX Runtime has no execution provider '\(name.shortened)'", at: model,
        advice: "It has \(available.quotedList)")
    case .noInput(let name, let model, let available):
      ErrorFacts(
        "inference.input.missing", "the model has no input '\(name.shortened)'", at: model,
        advice: "It has \(available.quotedList)")
    case .noOutput(let name, let model, let available):
      ErrorFacts(
        "inference.output.missing", "the model has no output '\(name.shortened)'", at: model,
        advice: "It has \(available.quotedList)")
    case .unsupported(let model, let port, let isInput):
      ErrorFacts(
        isInput ? "inference.input.unsupported" : "inference.output.unsupported",
        "the \(isInput ? "input" : "output") '\(port.name.shortened)' is of the type "
          + "\(port.typeName), which no stage converts",
        at: model,
        advice: isInput
          ? "Export the model with an input of float, double, uint8, int32 or int64"
          : "Name the outputs to compute in 'outputs', or export a classifier with the option "
            + "'zipmap': False")
    case .inputCount(let model, let given, let needed):
      ErrorFacts(
        "inference.input.count",
        "the model has \(needed.count) inputs (\(needed.quotedList)), and \(given) were given",
        at: model)
    case .inputType(let model, let input, let given, let needed):
      ErrorFacts(
        "inference.input.type",
        "the input '\(input.shortened)' is of the type \(needed.rawValue), and "
          + "\(given.rawValue) was given", at: model)
    case .inputShape(let model, let input, let given, let needed):
      ErrorFacts(
        "inference.input.shape",
        "the input '\(input.shortened)' has the shape \(needed.shapeText), and "
          + "\(given.map { $0 as Int? }.shapeText) was given", at: model,
        advice: "Scale and crop the frames to the shape of the input")
    case .noFeature(let name, let available):
      ErrorFacts(
        "inference.feature.missing", "the frame has no number '\(name.shortened)'",
        advice: available.isEmpty ? "The frame has no numbers" : "It has \(available.quotedList)")
    case .badFeature(let name, let value):
      ErrorFacts(
        "inference.feature.notFinite", "the number '\(name.shortened)' is \(value)")
    case .failed(let model, let cause):
      ErrorFacts(
        "inference.run.failed", "the model could not be computed", cause: cause, at: model)
    }
  }
}

extension [Int?] {
  /// `[1, 3, ?, ?]`, with a question mark for a length that the caller chooses.
  package var shapeText: String {
    "[" + map { $0.map(String.init) ?? "?" }.joined(separator: ", ") + "]"
  }
}

extension [String] {
  /// Quoted, each of a bounded length, and bounded in their number.
  fileprivate var quotedList: String {
    let shown = prefix(16).map { "'\($0.shortened)'" }.joined(separator: ", ")
    return count > 16 ? "\(shown) and \(count - 16) more" : shown
  }
}
