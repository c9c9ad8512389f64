import RetakeCore

/// How many frames wait at each node, counted from its decisions.
///
/// Nodes without a server write no line when a frame leaves their queue: it has left the queue when
/// it is offered to the next node. A join and the end of a forEach wait for parts that belong
/// together. Their parts are counted until the frame is decided.
struct TraceQueues: Sendable {
  private struct Token: Hashable, Sendable {
    var frame: FrameID
    var item: Int?
  }

  private let graph: TraceGraph
  /// By node. The dictionaries are only looked up, never iterated.
  private var waiting: [[Token: Int]]
  /// By node.
  private(set) var counts: [Int]

  init(_ graph: TraceGraph) {
    self.graph = graph
    waiting = graph.nodes.map { _ in [:] }
    counts = graph.nodes.map { _ in 0 }
  }

  /// The unit of a node's counter; `nil` for nodes without a queue, or whose queue the lines do not
  /// describe.
  static func unit(of role: TraceNode.Role) -> String? {
    switch role {
    case .stage, .passing: "frames"
    case .gathering: "parts"
    case .source, .latest, .sink: nil
    }
  }

  func isWaiting(_ work: TraceWork) -> Bool {
    waiting[work.node][token(work)] != nil
  }

  mutating func apply(_ kind: DecisionKind, _ work: TraceWork, reason: String?) {
    if kind == .deliver || kind == .block || kind == .drop {
      for input in graph.passingInputs[work.node] {
        remove(TraceWork(node: input, frame: work.frame))
      }
    }
    switch (kind, graph.nodes[work.node].role) {
    case (.deliver, .stage), (.deliver, .passing), (.deliver, .gathering): add(work)
    case (.join, .gathering): remove(work)
    // A part that its edge dropped because the queue was full never arrived, or it was one of
    // several parts; the others still wait.
    case (.drop, .gathering) where reason != DropReason.queue.rawValue: remove(work)
    // Only the late part itself, which its `deliver` counted: the others went with the decision.
    case (.late, .gathering): removeOne(work)
    case (_, .gathering): break
    case (.start, _), (.drop, _), (.supersede, _), (.fail, _), (.itemFail, _), (.thin, _),
      (.fanout, _):
      remove(work)
    default: break
    }
  }

  /// The frame has ended at all sinks, so its remaining parts at joins are removed.
  mutating func settle(_ frame: FrameID) {
    for node in graph.nodes.indices where graph.nodes[node].role == .gathering {
      remove(TraceWork(node: node, frame: frame))
    }
  }

  private func token(_ work: TraceWork) -> Token {
    // The line that gathers the items of a frame names the frame alone.
    let isWhole = graph.nodes[work.node].role == .gathering
    return Token(frame: work.frame, item: isWhole ? nil : work.item)
  }

  private mutating func add(_ work: TraceWork) {
    waiting[work.node][token(work), default: 0] += 1
    counts[work.node] += 1
  }

  private mutating func remove(_ work: TraceWork) {
    // A frame that never waited has no entry, such as an offered frame that a full queue drops.
    guard let count = waiting[work.node].removeValue(forKey: token(work)) else { return }
    counts[work.node] -= count
  }

  private mutating func removeOne(_ work: TraceWork) {
    guard let count = waiting[work.node][token(work)] else { return }
    waiting[work.node][token(work)] = count > 1 ? count - 1 : nil
    counts[work.node] -= 1
  }
}
