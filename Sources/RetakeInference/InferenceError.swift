package import RetakeCore

/// An error of a model or of the library that runs it.
package enum InferenceError: RetakeError, Hashable {
  /// The library could not compute the outputs.
  case failed(model: String, cause: String)

  package var facts: ErrorFacts {
    switch self {
    case .failed(let model, let cause):
      ErrorFacts(
        "inference.run.failed", "the model could not be computed", cause: cause, at: model,
        advice: "Run 'retake model info \(model.shellWord)' to see what it reads")
    }
  }
}
