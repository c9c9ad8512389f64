extension Pipeline {
  /// Each node's rank: the number of edges on the longest path from any source, by node ID.
  ///
  /// - Throws: `PipelineError.cycle` with the IDs along the cycle.
  package func ranks() throws -> [String: Int] {
    let ranks = try GraphIndex(self).ranks()
    return Dictionary(zip(nodes.map(\.id), ranks), uniquingKeysWith: { first, _ in first })
  }

  /// Nodes by rank, then by the bytes of their IDs: the order of the time plane.
  package func topologicalOrder() throws -> [PipelineNode] {
    try GraphIndex(self).order().map { nodes[$0] }
  }

  /// The sink whose ledger is the headline: the sink marked primary, otherwise the last sink by
  /// path.
  package var primarySink: String? {
    let sinks = nodes.filter { $0.stage.signature.role == .sink }
    return
      (sinks.first(where: \.isPrimary)
      ?? sinks.max { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) })?.id
  }

  /// The source whose frames reach a node. Each node has one such source: a join pairs frames of
  /// one source, and a latest join follows its first port. Nodes that no source reaches are absent.
  package func mainSources() throws -> [String: String] {
    let graph = GraphIndex(self)
    let sources = graph.mainSources(try graph.order())
    var byID: [String: String] = [:]
    for (node, source) in zip(nodes, sources) {
      byID[node.id] = source.map { nodes[$0].id }
    }
    return byID
  }
}

extension GraphIndex {
  /// The source whose frames reach a node, by node.
  func mainSources(_ order: [Int]) -> [Int?] {
    var sources = [Int?](repeating: nil, count: nodes.count)
    for node in order {
      sources[node] =
        role(node) == .source
        ? node : senderByPort(to: node).first.flatMap { $0 }.flatMap { sources[$0] }
    }
    return sources
  }
}
