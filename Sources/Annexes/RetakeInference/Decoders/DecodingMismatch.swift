package import RetakeCore

/// A decoder cannot read the outputs of a model.
package enum DecodingMismatch: RetakeError, Hashable {
  /// The outputs have other shapes. Reported before the first frame if the model declares them.
  case shapes(decoder: DecoderName, expected: String, actual: [[Int?]])
  /// An output has numbers of a type that is not read.
  case type(decoder: DecoderName, output: Int)
  /// A number of this frame's outputs is NaN or infinite.
  case notFinite(decoder: DecoderName, output: Int, element: Int, value: String)
  /// The model has another number of classes than there are labels.
  case labels(decoder: DecoderName, expected: Int, actual: Int)

  package var facts: ErrorFacts {
    switch self {
    case .shapes(let decoder, let expected, let actual):
      ErrorFacts(
        "inference.decode.shapes",
        "the decoder '\(decoder.rawValue)' reads \(expected); the model returns "
          + actual.shapesText,
        advice: "Set 'decoder' in the model's sidecar to the right decoder; see docs/models.md")
    case .type(let decoder, let output):
      ErrorFacts(
        "inference.decode.type",
        "the decoder '\(decoder.rawValue)' cannot read the type of output \(output)",
        advice: "Export the model with outputs of 32-bit floats")
    case .notFinite(let decoder, let output, let element, let value):
      ErrorFacts(
        "inference.decode.notFinite",
        "element \(element) of output \(output) is \(value)",
        cause: "read by the decoder '\(decoder.rawValue)'",
        advice: "Check 'mean_values' and 'scale_values' in the model's sidecar; see docs/models.md")
    case .labels(let decoder, let expected, let actual):
      ErrorFacts(
        "inference.decode.labels",
        "the model has \(counted(expected, "class", "classes")), and the labels are \(actual)",
        cause: "read by the decoder '\(decoder.rawValue)'",
        advice: "Write 'labels' in the model's sidecar, one for each class")
    }
  }
}

extension [[Int?]] {
  /// `1x84x8400 and 1x1`; a dimension that the caller chooses is `?`.
  fileprivate var shapesText: String {
    guard !isEmpty else { return "no outputs" }
    return map { shape in
      shape.isEmpty ? "a number" : shape.map { $0.map(String.init) ?? "?" }.joined(separator: "x")
    }.joined(separator: " and ")
  }
}
