package import RetakeCore
import RetakeGraph

/// The model of a stage, and the node's values for it.
package struct ModelOptions: StageOptions, Hashable {
  @OptionValue("path of an .onnx file, relative to the folder in which the command runs; required")
  package var model = ""
  @OptionValue(
    "the execution provider, by ONNX Runtime's name; NAME:FILE adds its engine, modelled:FILE is a "
      + "device that the file describes")
  package var provider = OnnxOptions.cpu
  @OptionValue("keys of the model's sidecar about its input; they override the keys of the file")
  package var input = JSONValue.object([:])
  @OptionValue("keys of the model's sidecar about its output; they override the keys of the file")
  package var output = JSONValue.object([:])

  package init() {}

  package init(model: String, target: DetectionTarget? = nil) {
    self.model = model
    if let target {
      output = .object(["classes": .array(target.labels.map(JSONValue.string))])
    }
  }

  /// The values in the node's options.
  ///
  /// - Throws: `OptionError` with the place of a key that no sidecar has, or of a wrong value.
  func values() throws -> ModelValues {
    var values = ModelValues()
    do {
      try values.read(input: StrictDecoder(input, at: "input"))
      try values.read(output: StrictDecoder(output, at: "output"))
    } catch let error as DocumentProblem {
      throw OptionError(
        key: error.pointer,
        message: "is refused: "
          + [error.message, error.advice].compactMap(\.self)
          .joined(separator: ". "))
    }
    return values
  }
}
