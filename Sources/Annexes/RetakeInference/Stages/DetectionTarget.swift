/// The classes of a detector that are kept, for `PipelineChain.detect(_:model:id:)`.
public enum DetectionTarget: Hashable, Sendable {
  /// The class with the label `face`.
  case faces
  /// The classes with these labels, at least one, as the model or its sidecar names them.
  case labels([String])

  var labels: [String] {
    switch self {
    case .faces: ["face"]
    case .labels(let labels): labels
    }
  }
}
