import RetakeCore

/// Nanoseconds from a frame's capture: as a rule, at worst, and with the queues full.
struct FrameTime: Hashable {
  var typical: Int64 = 0
  var worst: Int64 = 0
  /// What waiting in full queues adds.
  var waiting: Int64 = 0

  /// At worst, full queues included.
  var longest: Int64 { worst + waiting }

  func adding(_ other: FrameTime) -> FrameTime {
    FrameTime(
      typical: typical + other.typical, worst: worst + other.worst,
      waiting: waiting + other.waiting)
  }
}

/// When a frame leaves each node of a flat graph. It waits at a join for its partners; it does not
/// wait for the other values of a latest join.
struct FrameTimes {
  let graph: GraphIndex
  /// What each node itself takes.
  let own: [FrameTime]
  /// What waiting on each edge takes.
  private let waits: [Int64]
  /// When a frame leaves, by node.
  private(set) var leaving: [FrameTime]
  /// The edge on which the last part comes, by node.
  private(set) var lastEdge: [Int?]
  /// When a join goes on at the latest, by node; `nil` for nodes that wait for all they get.
  private(set) var limits: [FrameTime?]
  /// The ways from sources to each node, a million at most.
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

  /// The edges along which a node's frames come.
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
    pathCounts[node] = min(1_000_000, edges.reduce(0) { $0 + pathCounts[graph.senders[$1]] })
    if case .join(.any) = graph.nodes[node].stage.body { limits[node] = limit(of: node, times) }
    leaving[node] = times[last].limited(by: limits[node]).adding(own[node])
  }

  func arrival(on edge: Int) -> FrameTime {
    leaving[graph.senders[edge]].adding(wait(on: edge))
  }

  func wait(on edge: Int) -> FrameTime { FrameTime(waiting: waits[edge]) }

  /// When a join's timeout ends its waiting.
  private func limit(of node: Int, _ times: [FrameTime]) -> FrameTime? {
    guard let timeout = graph.nodes[node].timeout?.nanoseconds,
      let first = times.min(by: { $0.longest < $1.longest })
    else { return nil }
    return first.adding(FrameTime(typical: timeout, worst: timeout))
  }

  /// What more than one item adds to the time of one, where no other frame is in the body: stages
  /// work on different items at once, on as many as they have servers.
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
      let servers = min(group.servers, nodes.reduce(0) { $0 + graph.nodes[$1].lanes })
      let rounds = Int64((model.items + servers - 1) / servers - 1)
      typical = max(typical, rounds * together.typical)
      worst = max(worst, rounds * together.worst)
    }
    return FrameTime(typical: typical, worst: worst)
  }
}

extension FrameTime {
  /// A join of any goes on without what is late.
  func limited(by limit: FrameTime?) -> FrameTime {
    guard let limit else { return self }
    return FrameTime(
      typical: min(typical, limit.typical), worst: min(worst, limit.worst),
      waiting: min(waiting, max(0, limit.longest - min(worst, limit.worst))))
  }
}

extension Int64 {
  /// The nearest whole number within an hour; costs and queues keep far below its sum.
  fileprivate init(clamped value: Double) {
    self = Int64(Swift.max(0, Swift.min(value, 3.6e15)).rounded())
  }
}
