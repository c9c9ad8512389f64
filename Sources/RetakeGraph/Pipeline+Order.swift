import RetakeCore

extension Pipeline {
  /// Each node's rank: the number of edges on the longest path from any source, by node id.
  ///
  /// - Throws: `PipelineError.cycle` with the ids along the circle.
  package func ranks() throws(PipelineError) -> [String: Int] {
    var incoming: [String: Int] = [:]
    for node in nodes { incoming[node.id] = 0 }
    for edge in edges { incoming[edge.to, default: 0] += 1 }
    let edgesFrom = Dictionary(grouping: edges, by: \.from)
    var ranks: [String: Int] = [:]
    var ready = nodes.map(\.id).filter { incoming[$0] == 0 }
    for id in ready { ranks[id] = 0 }
    while let id = ready.popLast() {
      for edge in edgesFrom[id] ?? [] {
        ranks[edge.to] = max(ranks[edge.to] ?? 0, (ranks[id] ?? 0) + 1)
        incoming[edge.to, default: 0] -= 1
        if incoming[edge.to] == 0 { ready.append(edge.to) }
      }
    }
    let inCircles = Set(nodes.map(\.id).filter { (incoming[$0] ?? 0) > 0 })
    guard inCircles.isEmpty else {
      let circle = circle(among: inCircles)
      let index = edges.firstIndex { $0.from == circle[0] && $0.to == circle[1] } ?? 0
      throw PipelineError(.cycle(circle), at: edges[index].pointer ?? "/edges/\(index)")
    }
    return ranks
  }

  /// Walks back from any node that waits for ever until a node comes twice.
  private func circle(among ids: Set<String>) -> [String] {
    guard let start = nodes.first(where: { ids.contains($0.id) })?.id else { return [] }
    var path = [start]
    while let last = path.last {
      guard let edge = edges.first(where: { $0.to == last && ids.contains($0.from) }) else { break }
      if let index = path.firstIndex(of: edge.from) {
        return [edge.from] + path[index...].reversed()
      }
      path.append(edge.from)
    }
    return path
  }

  /// Nodes by rank, ties by the bytes of their ids: the order of the time plane.
  package func topologicalOrder() throws(PipelineError) -> [PipelineNode] {
    let ranks = try ranks()
    return nodes.sorted {
      let (left, right) = (ranks[$0.id] ?? 0, ranks[$1.id] ?? 0)
      return left != right ? left < right : $0.id.utf8.lexicographicallyPrecedes($1.id.utf8)
    }
  }

  /// The sink whose ledger is the headline: the one marked primary, else the last by path.
  package var primarySink: String? {
    let sinks = nodes.filter { $0.stage.signature.role == .sink }
    return
      (sinks.first(where: \.isPrimary)
      ?? sinks.max { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) })?.id
  }

  /// The source whose frames a node is about: each node has one. A join pairs frames of one source;
  /// a latest join follows its first port. Nodes that no source reaches are absent.
  package func mainSources() throws(PipelineError) -> [String: String] {
    let edgesTo = Dictionary(grouping: edges, by: \.to)
    var sources: [String: String] = [:]
    for node in try topologicalOrder() {
      if node.stage.signature.role == .source {
        sources[node.id] = node.id
        continue
      }
      let leading = node.stage.inputPorts.first
      let edge = edgesTo[node.id]?.first { $0.toPort == leading } ?? edgesTo[node.id]?.first
      sources[node.id] = edge.flatMap { sources[$0.from] }
    }
    return sources
  }
}
