import Retake

/// How many frames or items wait in the queues of each stage, from the decisions alone.
struct QueueDepths: Sendable {
  private struct Waiting: Hashable, Sendable {
    var frame: FrameID
    var item: Int?
  }

  /// By stage. Frames do not wait at a node that needs no server. Each set is bounded by the
  /// stage's queues.
  private var waiting: [String: Set<Waiting>] = [:]

  init(_ pipeline: Pipeline) {
    for node in pipeline.flattened().nodes {
      switch node.stage.signature.role {
      case .pure, .stateful: waiting[node.id] = []
      default: break
      }
    }
  }

  /// - Returns: How many wait at the line's node now; `nil` if that has not changed.
  mutating func apply(_ line: DecisionLine) -> Int? {
    guard let frame = line.frame, waiting[line.node] != nil else { return nil }
    let token = Waiting(frame: frame, item: line.item)
    // A frame waits from its `deliver` to its next line, a start or its end. Lines about a frame in
    // service do not change the depth.
    if line.kind == .deliver {
      waiting[line.node]?.insert(token)
    } else if waiting[line.node]?.remove(token) == nil {
      return nil
    }
    return waiting[line.node]?.count
  }
}
