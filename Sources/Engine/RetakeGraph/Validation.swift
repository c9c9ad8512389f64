import RetakeCore

extension Pipeline {
  /// The largest number of nodes of a pipeline, including the nodes in bodies of forEach nodes.
  package static let nodesMax = 4_096
  /// The largest number of edges of a pipeline, including the edges in bodies of forEach nodes.
  package static let edgesMax = 8_192
  /// The largest number of pools of a pipeline.
  package static let poolsMax = 256

  /// Checks the graph before anything runs: IDs, numbers, edges and ports, cycles, shape, types,
  /// services and pools, and that it has a source, a sink and one primary sink.
  ///
  /// - Throws: `PipelineError` with the pointer of the node or edge in the document's order; for a
  ///   pipeline made in Swift, `part` names the node or edge.
  public func validate() throws {
    do {
      try check()
    } catch let error as PipelineError {
      throw placing(error)
    }
  }

  private func check() throws {
    // Each check relies on the earlier checks: edges name nodes by valid ids, a flat graph needs
    // valid bodies, and shape, types and pools are followed in an order that only a graph without
    // cycles has.
    try checkSize()
    try checkIDs()
    try Self.checkPorts(nodes)
    try checkBodies()
    try checkNumbers()
    try checkEdges(edges, among: nodes, at: "/edges")
    let graph = GraphIndex(flattened())
    let order = try graph.order()
    try graph.checkShape(order)
    try graph.checkPrograms()
    try checkServices(graph)
    try graph.checkTypes(order)
    try checkPools(graph, order)
  }

  private func checkSize() throws {
    guard !nodes.isEmpty else {
      throw PipelineError(
        .missing("the pipeline has no nodes", advice: "Add a source, a stage and a sink"),
        at: "/nodes")
    }
    let bodies = nodes.compactMap(\.body)
    for (what, count, most, pointer) in [
      ("nodes", bodies.reduce(nodes.count) { $0 + $1.nodes.count }, Self.nodesMax, "/nodes"),
      ("edges", bodies.reduce(edges.count) { $0 + $1.edges.count }, Self.edgesMax, "/edges"),
      ("executors", executors.count, Self.nodesMax, "/executors"),
      ("pools", pools.count, Self.poolsMax, "/pools"),
    ] where count > most {
      throw PipelineError(
        .tooLarge("the pipeline has \(count) \(what); at most \(most) are allowed"), at: pointer)
    }
  }

  private func checkIDs() throws {
    // Inserted conversions have IDs that are not allowed in documents.
    try Self.checkIDs(
      nodes.map { $0.isInserted ? nil : $0.id }, of: "node", at: "/nodes")
    try Self.checkIDs(executors.map(\.id), of: "executor", at: "/executors")
    try Self.checkIDs(pools.map(\.id), of: "pool", at: "/pools")
    for (index, node) in nodes.enumerated() {
      guard let body = node.body else { continue }
      let pointer = "/nodes/\(index)/body/nodes"
      try Self.checkIDs(body.nodes.map(\.id), of: "node", at: pointer)
      guard let reserved = body.nodes.firstIndex(where: { $0.id == Self.gatherID }) else {
        continue
      }
      throw PipelineError(
        .wrongValue(
          "the id '\(Self.gatherID)' is reserved for the end of the forEach '\(node.id)'",
          advice: "Choose another id"), at: "\(pointer)/\(reserved)/id")
    }
  }

  private static func checkIDs(
    _ ids: [String?], of what: String, at pointer: String
  ) throws {
    var seen: Set<String> = []
    for case (let index, let id?) in ids.enumerated() {
      guard PipelineNode.isValidID(id) else {
        throw PipelineError(.invalidID(id, of: what), at: "\(pointer)/\(index)/id")
      }
      guard seen.insert(id).inserted else {
        throw PipelineError(.duplicateID(id), at: "\(pointer)/\(index)/id")
      }
    }
  }

  /// Checks the names and the number of the ports of joins and routes.
  private static func checkPorts(_ nodes: [PipelineNode]) throws {
    for (index, node) in nodes.enumerated() {
      let pointer = "/nodes/\(index)/options/ports"
      let isJoin = [.join, .latest].contains(node.stage.signature.role)
      guard isJoin || node.stage.signature.role == .route else { continue }
      let ports = isJoin ? node.stage.inputPorts : node.stage.outputPorts
      guard (2...AnyStage.portsMax).contains(ports.count) else {
        throw PipelineError(
          .badOption(
            "'\(node.id)' has the wrong number of ports: \(ports.count)",
            advice: "A \(node.kind) node has 2 to \(AnyStage.portsMax)"), at: pointer)
      }
      var seen: Set<String> = []
      for (place, port) in ports.enumerated() {
        guard PipelineNode.isValidID(port) else {
          throw PipelineError(
            .badOption(
              "'\(port.shortened)' is not a port of '\(node.id)'",
              advice: "Use a lower-case letter, then letters, digits or -"),
            at: "\(pointer)/\(place)")
        }
        guard seen.insert(port).inserted else {
          throw PipelineError(
            .badOption(
              "'\(node.id)' has two ports '\(port)'",
              advice: "Choose a different name for each port"),
            at: "\(pointer)/\(place)")
        }
      }
    }
  }

  private func checkBodies() throws {
    for (index, node) in nodes.enumerated() {
      let pointer = "/nodes/\(index)"
      guard let body = node.body else {
        guard node.stage.signature.role != .fork else {
          throw PipelineError(.missingKey("body"), at: pointer)
        }
        continue
      }
      guard node.stage.signature.role == .fork else {
        throw PipelineError(
          .wrongValue("'\(node.kind)' has no body", advice: "Only a forEach has one"),
          at: "\(pointer)/body")
      }
      try body.check(at: "\(pointer)/body")
      try checkEdges(body.edges, among: body.nodes, at: "\(pointer)/body/edges")
      try body.checkLine(at: "\(pointer)/body")
    }
  }

  /// Checks the nodes and ports that the edges refer to.
  private func checkEdges(
    _ edges: [PipelineEdge], among nodes: [PipelineNode], at pointer: String
  ) throws {
    let stages = Dictionary(
      nodes.map { ($0.id, $0.stage) }, uniquingKeysWith: { first, _ in first })
    for (index, edge) in edges.enumerated() {
      for (key, id, port) in [("from", edge.from, edge.fromPort), ("to", edge.to, edge.toPort)] {
        // Made for an error alone: a pipeline may have thousands of edges.
        func place() -> String { "\(pointer)/\(index)/\(key)" }
        guard let stage = stages[id] else {
          throw PipelineError(
            .unknownNode(id.shortened, advice: Suggestion.advice(for: id, among: nodes.map(\.id))),
            at: place())
        }
        let ports = key == "from" ? stage.outputPorts : stage.inputPorts
        try Self.check(port: port, of: id, among: ports, at: place())
      }
    }
  }

  private static func check(
    port: String?, of node: String, among ports: [String], at pointer: @autoclosure () -> String
  ) throws {
    guard let first = ports.first else {
      if port == nil { return }
      throw PipelineError(
        .wrongValue("'\(node)' has one port only", advice: "Leave out the port's name"),
        at: pointer())
    }
    guard let port else {
      throw PipelineError(
        .wrongValue(
          "'\(node)' has the ports \(ports.joined(separator: ", "))",
          advice: "Name one: \"\(node).\(first)\""), at: pointer())
    }
    guard ports.contains(port) else {
      throw PipelineError(
        .wrongValue(
          "'\(node)' has no port '\(port.shortened)'",
          advice: Suggestion.advice(for: port, among: ports)),
        at: pointer())
    }
  }
}
