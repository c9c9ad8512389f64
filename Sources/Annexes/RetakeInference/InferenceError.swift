package import RetakeCore

/// An error of a model or of the library that runs it.
package struct InferenceError: FactualError {
  package let facts: ErrorFacts

  package init(facts: ErrorFacts) { self.facts = facts }

  /// ONNX Runtime is not in any of the `LibraryPlaces`.
  package static let noLibrary = Self(
    "inference.library.missing", "ONNX Runtime is not on this machine",
    advice: "Install it in a virtual environment: python3 -m venv .venv && "
      + ". .venv/bin/activate && pip install onnxruntime; or set \(LibraryPlaces.variable) to "
      + "its library")

  /// A file that is not ONNX Runtime, or that the system's loader refuses.
  package static func foreignLibrary(path: String, cause: String) -> Self {
    Self(
      "inference.library.foreign", "the file cannot be used as ONNX Runtime", cause: cause,
      at: path, advice: "Install it with 'pip install --force-reinstall onnxruntime'")
  }

  package static func oldLibrary(path: String, version: String) -> Self {
    Self(
      "inference.library.old",
      "ONNX Runtime \(version.shortened) is too old; \(OnnxLibrary.versionMin) or later is "
        + "needed",
      at: path, advice: "Update it with 'pip install --upgrade onnxruntime'")
  }

  /// The library could not be set up.
  package static func libraryFailed(path: String, cause: String) -> Self {
    Self(
      "inference.library.failed", "ONNX Runtime could not be set up", cause: cause, at: path,
      advice: "Install it with 'pip install --force-reinstall onnxruntime'")
  }

  /// The file is not a model, or this version of the library cannot compute the model.
  ///
  /// - Parameter isSized: Whether inputs got another size than the model declares.
  package static func invalid(
    model: String, version: String, cause: String, isSized: Bool = false
  ) -> Self {
    let way =
      "Export the model again, or update the library with 'pip install --upgrade onnxruntime'"
    return Self(
      "inference.model.invalid", "ONNX Runtime \(version) cannot load this file as a model",
      cause: cause, at: model,
      advice: isSized
        ? "Choose another input.size, for example multiples of 32. Otherwise: \(way)" : way)
  }

  /// The file is not a model, as can be seen without the library.
  package static func malformed(model: String, cause: String) -> Self {
    Self(
      "inference.model.malformed", "the file is not a model in ONNX's format", cause: cause,
      at: model, advice: "Export or download the model again")
  }

  /// A part of the model is in another file.
  package static func external(model: String, file: String) -> Self {
    Self(
      "inference.model.external",
      "the model's numbers are in another file, '\(file.shortened)'", at: model,
      advice: "Save the model as one file: onnx.save(model, path, save_as_external_data=False)")
  }

  /// The model declares more than is read.
  package static func tooLarge(model: String, what: String, max: String) -> Self {
    Self(
      "inference.model.tooLarge", "\(what); at most \(max)", at: model,
      advice: "Export the model with smaller sizes")
  }

  package static func noInput(_ name: String, model: String, available: [String]) -> Self {
    Self(
      "inference.input.missing", "the model has no input '\(name.shortened)'", at: model,
      advice: "It has \(available.quotedList)")
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
  var quotedList: String {
    let shown = prefix(16).map { "'\($0.shortened)'" }.joined(separator: ", ")
    return count > 16 ? "\(shown) and \(count - 16) more" : shown
  }
}
