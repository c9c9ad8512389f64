/// A node as an observer sees it, such as a stage or an inserted conversion.
public struct RunNode: Hashable, Sendable {
  /// The node's ID; `OBJECTS/NODE` in the body of the forEach `OBJECTS`, and an ID that ends in
  /// `/convert` for an inserted conversion.
  public var id: String
  /// The stage's name in documents, such as `motion`.
  public var kind: String
  /// The role of the node, which determines its inputs and outputs.
  public var role: StageRoleName
  /// IDs of the nodes that it reads from, in the order of its ports.
  public var inputs: [String]
  /// The executor whose servers handle the node's frames; `nil` for nodes without a server.
  package var executor: RunExecutor?
  /// The track that a source reads.
  public var track: Int?
  /// Whether the frames of its batches are computed in one call.
  package var computesBatches = false
  /// Whether a script under `retake.loop` computes it.
  package var isLoop = false

  /// The cases of `StageRole`, by name.
  public enum StageRoleName: String, Hashable, Sendable {
    case source, pure, stateful, throttle, sample, route, join, latest, fork, gather, sink

    /// Whether a frame's stage digests include the output of such nodes. Other nodes pass their
    /// input on unchanged.
    package var isDigested: Bool {
      switch self {
      case .source, .pure, .stateful, .join, .latest, .gather: true
      case .throttle, .sample, .route, .fork, .sink: false
      }
    }
  }
}
