package import RetakeCore

/// A wrong or missing value for a model: in its sidecar, in the file itself, or in a node.
package enum ModelDocumentError: RetakeError, Hashable {
  /// The sidecar exists and cannot be read.
  case unreadable(path: String, cause: String)
  /// The sidecar has a wrong value.
  case sidecar(path: String, DocumentProblem)
  /// The description of a modelled device cannot be read.
  case noDevice(path: String, cause: String)
  /// The description of a modelled device has a wrong value.
  case device(path: String, DocumentProblem)
  /// A value that is needed is given nowhere.
  case missing(model: String, key: String, advice: String)
  /// A value does not fit the model.
  case contradiction(model: String, key: String, String)

  package var facts: ErrorFacts {
    switch self {
    case .unreadable(let path, let cause):
      ErrorFacts(
        "inference.sidecar.unreadable", "the model's sidecar cannot be read", cause: cause,
        at: path, advice: "Write it as in docs/models.md, or remove it")
    case .sidecar(let path, let problem):
      ErrorFacts(
        problem.code, problem.message, at: path, pointer: problem.pointer,
        advice: problem.advice ?? "docs/models.md describes each key")
    case .noDevice(let path, let cause):
      ErrorFacts(
        "inference.device.unreadable", "the description of the device cannot be read",
        cause: cause, at: path, advice: Self.deviceAdvice)
    case .device(let path, let problem):
      ErrorFacts(
        "inference.device.invalid", problem.message, at: path, pointer: problem.pointer,
        advice: problem.advice ?? Self.deviceAdvice)
    case .missing(let model, let key, let advice):
      ErrorFacts(
        "inference.settings.missing", "the setting '\(key)' of this model is missing", at: model,
        advice: advice)
    case .contradiction(let model, let key, let message):
      ErrorFacts(
        "inference.settings.contradiction", "'\(key)' does not fit the model: \(message)",
        at: model,
        advice: "Write it as in docs/models.md, in the node or in "
          + ModelSidecar.path(ofModel: model))
    }
  }

  private static let deviceAdvice =
    "Write for example: {\"v\": 1, \"name\": \"card-b\", \"noise\": 1e-4, \"seed\": 7}"
}

extension DocumentProblem {
  fileprivate var code: String {
    switch reason {
    case .malformed: "inference.sidecar.malformed"
    case .otherVersion: "inference.sidecar.version"
    case .unknownKey: "inference.sidecar.unknownKey"
    case .missingKey: "inference.sidecar.missingKey"
    case .wrongValue: "inference.sidecar.wrongValue"
    case .tooLarge: "inference.sidecar.tooLarge"
    }
  }
}
