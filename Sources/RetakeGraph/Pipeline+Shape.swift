import RetakeCore

extension Pipeline {
  /// Checks that every node of a flat graph is reached and leads somewhere.
  func checkShape() throws(PipelineError) {
    let edgesTo = Dictionary(grouping: edges, by: \.to)
    let edgesFrom = Dictionary(grouping: edges, by: \.from)
    for node in nodes {
      try check(node, incoming: edgesTo[node.id] ?? [], outgoing: edgesFrom[node.id] ?? [])
    }
    try checkEnds()
    try checkPairing()
  }

  private func check(
    _ node: PipelineNode, incoming: [PipelineEdge], outgoing: [PipelineEdge]
  ) throws(PipelineError) {
    let pointer = node.pointer ?? "/nodes"
    switch node.stage.signature.role {
    case .source:
      guard incoming.isEmpty else {
        throw PipelineError(
          .unsupported("the source '\(node.id)' cannot have an input", advice: "Remove the edge"),
          at: pointer)
      }
    case .join, .latest: try checkPorts(of: node, incoming)
    case .sink:
      guard outgoing.isEmpty else {
        throw PipelineError(
          .unsupported("the sink '\(node.id)' cannot have an output", advice: "Remove the edge"),
          at: pointer)
      }
      fallthrough
    case .pure, .stateful, .throttle, .sample, .route, .fork, .gather:
      if incoming.isEmpty { throw PipelineError(.unreachable(node.id), at: pointer) }
      if incoming.count > 1 {
        throw PipelineError(
          .unsupported(
            "'\(node.id)' has \(incoming.count) inputs, and only joins have several",
            advice: "Put a join or a latest node before it"), at: incoming[1].pointer ?? pointer)
      }
    }
    if node.stage.signature.role != .sink, outgoing.isEmpty {
      throw PipelineError(
        .missing(
          "what '\(node.id)' gives goes nowhere", advice: "Add an edge to a sink such as 'results'"),
        at: pointer)
    }
  }

  private func checkPorts(
    of node: PipelineNode, _ incoming: [PipelineEdge]
  ) throws(PipelineError) {
    for port in node.stage.inputPorts {
      let edges = incoming.filter { $0.toPort == port }
      guard !edges.isEmpty else {
        throw PipelineError(
          .missing(
            "nothing leads to the port '\(port)' of '\(node.id)'",
            advice: "Add an edge to \"\(node.id).\(port)\", or remove the port"),
          at: node.pointer ?? "/nodes")
      }
      guard edges.count == 1 else {
        throw PipelineError(
          .unsupported(
            "the port '\(port)' of '\(node.id)' has \(edges.count) inputs",
            advice: "Give '\(node.id)' a port for each"), at: edges[1].pointer ?? "/edges")
      }
    }
  }

  private func checkEnds() throws(PipelineError) {
    guard nodes.contains(where: { $0.stage.signature.role == .source }) else {
      throw PipelineError(
        .missing("the pipeline has no source", advice: "Add a node of kind 'session'"),
        at: "/nodes")
    }
    guard nodes.count(where: \.isPrimary) <= 1 else {
      throw PipelineError(
        .wrongValue("two sinks are marked primary", advice: "Keep one"), at: "/nodes")
    }
    for node in nodes where node.isPrimary && node.stage.signature.role != .sink {
      throw PipelineError(
        .wrongValue("'\(node.id)' is no sink and cannot be primary", advice: nil),
        at: "\(node.pointer ?? "/nodes")/primary")
    }
  }

  /// A join pairs the frames of one source: frames of two tracks never have partners.
  private func checkPairing() throws(PipelineError) {
    let sources = try mainSources()
    for node in nodes where node.stage.signature.role == .join {
      let ports = edges.filter { $0.to == node.id }
      guard let first = ports.first, let source = sources[first.from] else { continue }
      for edge in ports {
        guard let other = sources[edge.from], other != source else { continue }
        throw PipelineError(
          .unsupported(
            "'\(node.id)' would pair frames of '\(source)' with frames of '\(other)'",
            advice: "Use a node of kind 'latest' to combine sources"),
          at: edge.pointer ?? "/edges")
      }
    }
  }
}
