import RetakeCore

/// A flat graph that uses numbers, so that each check traverses it in one pass.
///
/// Edges that refer to a node which does not exist are omitted.
package struct GraphIndex {
  package let nodes: [PipelineNode]
  package let edges: [PipelineEdge]
  /// By edge.
  package let senders: [Int]
  /// By edge.
  package let receivers: [Int]
  /// Edges that lead to a node, in the document's order.
  package let incoming: [[Int]]
  /// Edges that leave a node, in the document's order.
  package let outgoing: [[Int]]

  package init(_ flat: Pipeline) {
    // `validate` reports an id that occurs twice; `uniqueKeysWithValues` would end the process.
    let places = Dictionary(
      zip(flat.nodes.map(\.id), flat.nodes.indices), uniquingKeysWith: { first, _ in first })
    let known = flat.edges.compactMap { edge -> (edge: PipelineEdge, from: Int, to: Int)? in
      guard let from = places[edge.from], let to = places[edge.to] else { return nil }
      return (edge, from, to)
    }
    var incoming = Array(repeating: [Int](), count: flat.nodes.count)
    var outgoing = incoming
    for (index, edge) in known.enumerated() {
      incoming[edge.to].append(index)
      outgoing[edge.from].append(index)
    }
    nodes = flat.nodes
    edges = known.map(\.edge)
    senders = known.map(\.from)
    receivers = known.map(\.to)
    self.incoming = incoming
    self.outgoing = outgoing
  }

  package func role(_ node: Int) -> StageRole { nodes[node].stage.signature.role }

  package func pointer(ofNode node: Int) -> String { nodes[node].pointer ?? "/nodes/\(node)" }

  package func pointer(ofEdge edge: Int) -> String { edges[edge].pointer ?? "/edges/\(edge)" }

  /// The edge to each port of a join, in the order of the ports; for any other node its only edge.
  package func edgesByPort(to node: Int) -> [Int?] {
    let ports = nodes[node].stage.inputPorts
    guard !ports.isEmpty else { return [incoming[node].first] }
    var byPort: [String: Int] = [:]
    for edge in incoming[node] {
      // Of two edges to one port the first counts here; `checkPorts` refuses the second.
      if let port = edges[edge].toPort, byPort[port] == nil { byPort[port] = edge }
    }
    return ports.map { byPort[$0] }
  }

  /// The node that sends to each port of a join, in the order of the ports.
  package func senderByPort(to node: Int) -> [Int?] {
    edgesByPort(to: node).map { edge in edge.map { senders[$0] } }
  }
}

extension GraphIndex {
  /// The number of edges on the longest path from any source to each node.
  ///
  /// - Throws: `PipelineError.cycle` with the IDs along the cycle.
  package func ranks() throws -> [Int] {
    var open = incoming.map(\.count)
    var ranks = Array(repeating: 0, count: nodes.count)
    var ready = nodes.indices.filter { open[$0] == 0 }
    // A rank is a maximum, so it does not depend on the order in which nodes are taken.
    while let node = ready.popLast() {
      for edge in outgoing[node] {
        let next = receivers[edge]
        ranks[next] = max(ranks[next], ranks[node] + 1)
        open[next] -= 1
        if open[next] == 0 { ready.append(next) }
      }
    }
    // A node that was never ready is on a cycle or downstream of a cycle.
    if open.contains(where: { $0 > 0 }) { throw cycle(among: open.map { $0 > 0 }) }
    return ranks
  }

  /// Nodes by rank, then by the bytes of their IDs: the order of the time plane.
  package func order() throws -> [Int] {
    let ranks = try ranks()
    return nodes.indices.sorted {
      ranks[$0] != ranks[$1]
        ? ranks[$0] < ranks[$1] : nodes[$0].id.utf8.lexicographicallyPrecedes(nodes[$1].id.utf8)
    }
  }

  /// Walks back from any node that can never be ordered until a node occurs twice.
  private func cycle(among waiting: [Bool]) -> PipelineError {
    var path: [Int] = []
    var places: [Int: Int] = [:]
    // Backwards, because each waiting node has a sender that waits. Forwards, the walk could leave
    // the cycle and end.
    var node = waiting.firstIndex(of: true) ?? 0
    // Ends: each round visits a node that was not visited before.
    while places[node] == nil {
      places[node] = path.count
      path.append(node)
      guard let edge = incoming[node].first(where: { waiting[senders[$0]] }) else { break }
      node = senders[edge]
    }
    // The walk went against the edges, and the message follows them.
    let circle = [node] + path[(places[node] ?? 0)...].reversed()
    return PipelineError(.cycle(written(circle)), at: pointer(along: circle))
  }

  /// The IDs as they are in the document. A forEach replaces the nodes created from its body,
  /// unless the cycle is entirely inside the body.
  private func written(_ circle: [Int]) -> [String] {
    let outer = circle.filter { nodes[$0].scope == nil }
    guard let first = outer.first else { return circle.map { nodes[$0].id } }
    let ids = outer.map { nodes[$0].id }
    return outer.last == first && outer.count > 1 ? ids : ids + [nodes[first].id]
  }

  /// The pointer to the first edge of the cycle that is in the document.
  private func pointer(along circle: [Int]) -> String {
    let along = zip(circle, circle.dropFirst()).compactMap { from, to in
      outgoing[from].first { receivers[$0] == to }
    }
    // An edge that was made for a forEach has the pointer of its body. An edge that a person wrote
    // can be removed, so the error points to it.
    let written = along.first { pointer(ofEdge: $0).contains("/edges/") }
    return (written ?? along.first).map { pointer(ofEdge: $0) } ?? "/edges"
  }
}
