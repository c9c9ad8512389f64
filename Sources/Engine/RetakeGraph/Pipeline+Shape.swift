import RetakeCore

extension GraphIndex {
  /// Checks that every node is reached and leads to a sink, and that joins can pair their inputs.
  func checkShape(_ order: [Int]) throws {
    for node in nodes.indices {
      try checkInputs(of: node)
      try checkOutputs(of: node)
    }
    try checkEnds()
    try checkPairing(order)
    try checkRoutes(order)
  }

  private func checkInputs(of node: Int) throws {
    let edges = incoming[node]
    switch role(node) {
    case .source:
      guard edges.isEmpty else {
        throw PipelineError(
          .unsupported(
            "the source '\(nodes[node].id)' cannot have an input", advice: "Remove the edge"),
          at: pointer(ofEdge: edges[0]))
      }
    case .join, .latest: try checkPorts(of: node)
    case .sink, .pure, .stateful, .throttle, .sample, .route, .fork, .gather:
      guard !edges.isEmpty else {
        throw PipelineError(.unreachable(nodes[node].id), at: pointer(ofNode: node))
      }
      guard edges.count == 1 else {
        throw PipelineError(
          .unsupported(
            "'\(nodes[node].id)' has \(edges.count) inputs, and only joins have several",
            advice: "Put a join or a latest node before it"), at: pointer(ofEdge: edges[1]))
      }
    }
  }

  private func checkOutputs(of node: Int) throws {
    let edges = outgoing[node]
    guard role(node) != .sink else {
      guard edges.isEmpty else {
        throw PipelineError(
          .unsupported(
            "the sink '\(nodes[node].id)' cannot have an output", advice: "Remove the edge"),
          at: pointer(ofEdge: edges[0]))
      }
      return
    }
    guard !edges.isEmpty else {
      // The end of a forEach is in no document; its author knows the forEach.
      let owner = role(node) == .gather ? nodes[node].scope ?? nodes[node].id : nodes[node].id
      throw PipelineError(
        .missing(
          "the output of '\(owner)' has no edge", advice: "Add an edge to a sink such as 'results'"),
        at: pointer(ofNode: node))
    }
  }

  private func checkPorts(of node: Int) throws {
    let id = nodes[node].id
    let ports = nodes[node].stage.inputPorts
    let byPort = Dictionary(grouping: incoming[node]) { edges[$0].toPort }
    for port in ports {
      let edges = byPort[port] ?? []
      guard !edges.isEmpty else {
        throw PipelineError(
          .missing(
            "no edge leads to the port '\(port)' of '\(id)'",
            advice: "Add an edge to \"\(id).\(port)\", or remove the port"),
          at: pointer(ofNode: node))
      }
      guard edges.count == 1 else {
        throw PipelineError(
          .unsupported(
            "the port '\(port)' of '\(id)' has \(edges.count) inputs",
            advice: "Add a port to '\(id)' for each"), at: pointer(ofEdge: edges[1]))
      }
    }
  }

  private func checkEnds() throws {
    guard nodes.indices.contains(where: { role($0) == .source }) else {
      throw PipelineError(
        .missing("the pipeline has no source", advice: "Add a node of kind 'session'"),
        at: "/nodes")
    }
    let primary = nodes.indices.filter { nodes[$0].isPrimary }
    for node in primary where role(node) != .sink {
      throw PipelineError(
        .wrongValue(
          "'\(nodes[node].id)' is not a sink and cannot be primary",
          advice: "Leave out \"primary\", or set it on a sink"),
        at: "\(pointer(ofNode: node))/primary")
    }
    guard primary.count <= 1 else {
      throw PipelineError(
        .wrongValue(
          "'\(nodes[primary[0]].id)' and '\(nodes[primary[1]].id)' are marked primary",
          advice: "Keep one"), at: "\(pointer(ofNode: primary[1]))/primary")
    }
  }

  /// A join pairs the frames of one source: frames of two tracks never have partners.
  private func checkPairing(_ order: [Int]) throws {
    let sources = mainSources(order)
    for node in nodes.indices where role(node) == .join {
      let byPort = edgesByPort(to: node).compactMap { $0 }
      guard let first = byPort.first, let source = sources[senders[first]] else { continue }
      for edge in byPort {
        guard let other = sources[senders[edge]], other != source else { continue }
        throw PipelineError(
          .unsupported(
            "'\(nodes[node].id)' would pair frames of '\(nodes[source].id)' with frames of "
              + "'\(nodes[other].id)'",
            advice: "Use a node of kind 'latest' to combine sources"),
          at: pointer(ofEdge: edge))
      }
    }
  }
}
