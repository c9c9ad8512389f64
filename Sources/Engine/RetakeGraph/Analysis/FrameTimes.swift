import RetakeCore

/// Nanoseconds since a frame's capture: typically, in the worst case, and with full queues.
struct FrameTime: Hashable {
  var typical: Int64 = 0
  var worst: Int64 = 0
  /// The additional time in full queues.
  var waiting: Int64 = 0

  /// The worst case, including full queues.
  var longest: Int64 { worst + waiting }

  func adding(_ other: FrameTime) -> FrameTime {
    FrameTime(
      typical: typical + other.typical, worst: worst + other.worst,
      waiting: waiting + other.waiting)
  }
}

/// When a frame leaves each node of a flat graph. At a join, a frame waits for its partners. It
/// does not wait for the other values of a latest join.
struct FrameTimes {
  let graph: GraphIndex
  /// The time of each node itself.
  let own: [FrameTime]
  /// The waiting time on each edge.
  private let waits: [Int64]
  /// When a frame leaves, by node.
  private(set) var leaving: [FrameTime]
  /// The edge on which the last part arrives, by node.
  private(set) var lastEdge: [Int?]
  /// When a join continues at the latest, by node; `nil` for nodes that wait for all inputs.
  private(set) var limits: [FrameTime?]
  /// The number of paths from sources to each node, at most a million.
  private(set) var pathCounts: [Int]

  init(_ model: FlowModel) {
    let graph = model.graph
    self.graph = graph
    let full = model.fullQueues()
    var times = graph.nodes.map { node -> FrameTime in
      let time = node.timeOfFrame
      return FrameTime(typical: time.typical, worst: time.worst)
    }
    for node in graph.nodes.indices {
      // The nodes of the body count the first item. A frame leaves after its last item has arrived.
      if graph.role(node) == .gather { times[node] = Self.moreItems(at: node, model) }
      times[node].waiting = Int64(clamped: full.holds[node])
    }
    own = times
    waits = full.waits.map { Int64(clamped: $0) }
    leaving = Array(repeating: FrameTime(), count: graph.nodes.count)
    lastEdge = Array(repeating: nil, count: graph.nodes.count)
    limits = Array(repeating: nil, count: graph.nodes.count)
    pathCounts = Array(repeating: 1, count: graph.nodes.count)
    for node in model.order { visit(node) }
  }

  /// The edges on which a node's frames arrive.
  static func frameEdges(_ graph: GraphIndex, to node: Int) -> [Int] {
    let edges = graph.edgesByPort(to: node).compactMap { $0 }
    return graph.role(node) == .latest ? Array(edges.prefix(1)) : edges
  }

  private mutating func visit(_ node: Int) {
    let edges = Self.frameEdges(graph, to: node)
    let times = edges.map { arrival(on: $0) }
    guard let last = times.indices.max(by: { times[$0].longest < times[$1].longest }) else {
      leaving[node] = own[node]
      return
    }
    lastEdge[node] = edges[last]
    // Each join can double the number.
    pathCounts[node] = min(1_000_000, edges.reduce(0) { $0 + pathCounts[graph.senders[$1]] })
    if case .join(.any) = graph.nodes[node].stage.body { limits[node] = limit(of: node, times) }
    leaving[node] = times[last].limited(by: limits[node]).adding(own[node])
  }

  func arrival(on edge: Int) -> FrameTime {
    leaving[graph.senders[edge]].adding(wait(on: edge))
  }

  func wait(on edge: Int) -> FrameTime { FrameTime(waiting: waits[edge]) }

  /// When a join's timeout ends the waiting.
  private func limit(of node: Int, _ times: [FrameTime]) -> FrameTime? {
    guard let timeout = graph.nodes[node].timeout?.nanoseconds,
      let first = times.min(by: { $0.longest < $1.longest })
    else { return nil }
    // By `join-timer` the time starts with the first value.
    return first.adding(FrameTime(typical: timeout, worst: timeout))
  }

  /// The time that further items add to the time of the first item, if no other frame is in the
  /// body. Stages handle different items at once, as many as they have servers.
  private static func moreItems(at gather: Int, _ model: FlowModel) -> FrameTime {
    let graph = model.graph
    guard model.items > 1 else { return FrameTime() }
    let scope = graph.nodes[gather].scope
    var typical: Int64 = 0
    var worst: Int64 = 0
    for group in model.groups {
      let nodes = group.nodes.filter { graph.nodes[$0].scope == scope }
      guard !nodes.isEmpty else { continue }
      let together = nodes.reduce(into: (typical: Int64(0), worst: Int64(0))) {
        $0.typical += graph.nodes[$1].timeOfFrame.typical
        $0.worst += graph.nodes[$1].timeOfFrame.worst
      }
      // Servers beyond the slots of the nodes stay idle in this body.
      let servers = min(group.servers, nodes.reduce(0) { $0 + graph.nodes[$1].concurrency })
      // Less one, because the times of the nodes themselves are the first round.
      let rounds = Int64((model.items + servers - 1) / servers - 1)
      // Groups work at the same time, so the slowest one decides.
      typical = max(typical, rounds * together.typical)
      worst = max(worst, rounds * together.worst)
    }
    return FrameTime(typical: typical, worst: worst)
  }
}

extension FrameTime {
  /// A join with the mode any continues without late parts.
  func limited(by limit: FrameTime?) -> FrameTime {
    guard let limit else { return self }
    // The waiting time is at most the rest of the limit after the worst case, so that both together
    // do not exceed the limit.
    return FrameTime(
      typical: min(typical, limit.typical), worst: min(worst, limit.worst),
      waiting: min(waiting, max(0, limit.longest - min(worst, limit.worst))))
  }
}

extension Int64 {
  /// The nearest integer, clamped to 0 … 3.6e15: 1,000 hours in nanoseconds.
  fileprivate init(clamped value: Double) {
    self = Int64(Swift.max(0, Swift.min(value, 3.6e15)).rounded())
  }
}
