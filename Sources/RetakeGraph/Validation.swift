import RetakeCore

extension Pipeline {
  /// Checks the graph before anything runs: ids, numbers, edges and ports, cycles, shape, types,
  /// and that it has a source, a sink and one primary sink.
  ///
  /// - Throws: `PipelineError` with the pointer of the node or edge in the document's order.
  public func validate() throws(PipelineError) {
    try checkIDs()
    try checkBodies()
    try checkNumbers()
    let flat = flattened()
    try flat.checkEdges()
    _ = try flat.ranks()
    try flat.checkShape()
    try flat.checkServices()
    try flat.checkTypes()
  }

  private func checkIDs() throws(PipelineError) {
    guard !nodes.isEmpty else {
      throw PipelineError(
        .missing("the pipeline has no nodes", advice: "Add a source, a stage and a sink"),
        at: "/nodes")
    }
    try Self.checkUnique(nodes.map(\.id), at: "/nodes")
    try Self.checkUnique(executors.map(\.id), at: "/executors")
    try Self.checkUnique(pools.map(\.id), at: "/pools")
    for (index, node) in nodes.enumerated() {
      guard let body = node.body else { continue }
      try Self.checkUnique(body.nodes.map(\.id), at: "/nodes/\(index)/body/nodes")
    }
  }

  private static func checkUnique(_ ids: [String], at pointer: String) throws(PipelineError) {
    var seen: Set<String> = []
    for (index, id) in ids.enumerated() where !seen.insert(id).inserted {
      throw PipelineError(.duplicateID(id), at: "\(pointer)/\(index)/id")
    }
  }

  /// A body is one line of stages, from the item to its output.
  private func checkBodies() throws(PipelineError) {
    for (index, node) in nodes.enumerated() {
      let pointer = "/nodes/\(index)"
      guard let body = node.body else {
        if node.stage.signature.role == .fork {
          throw PipelineError(.missingKey("body"), at: pointer)
        }
        continue
      }
      try body.check(at: "\(pointer)/body")
    }
  }

  private func checkEdges() throws(PipelineError) {
    let byID = Dictionary(nodes.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    let ids = nodes.map(\.id)
    for edge in edges {
      let pointer = edge.pointer ?? "/edges"
      for (key, id) in [("from", edge.from), ("to", edge.to)] where byID[id] == nil {
        throw PipelineError(
          .unknownNode(id, advice: Suggestion.advice(for: id, among: ids)),
          at: "\(pointer)/\(key)")
      }
      try Self.check(
        port: edge.fromPort, of: edge.from, among: byID[edge.from]?.stage.outputPorts ?? [],
        at: "\(pointer)/from")
      try Self.check(
        port: edge.toPort, of: edge.to, among: byID[edge.to]?.stage.inputPorts ?? [],
        at: "\(pointer)/to")
    }
  }

  private static func check(
    port: String?, of node: String, among ports: [String], at pointer: String
  ) throws(PipelineError) {
    guard !ports.isEmpty else {
      if port == nil { return }
      throw PipelineError(
        .wrongValue("this node has one port only", advice: "Leave out the port's name"),
        at: pointer)
    }
    guard let port else {
      throw PipelineError(
        .wrongValue(
          "'\(node)' has the ports \(ports.joined(separator: ", "))",
          advice: "Name one: \"\(node).\(ports[0])\""), at: pointer)
    }
    guard ports.contains(port) else {
      throw PipelineError(
        .wrongValue(
          "'\(node)' has no port '\(port)'", advice: Suggestion.advice(for: port, among: ports)),
        at: pointer)
    }
  }
}

extension PipelineBody {
  fileprivate func check(at pointer: String) throws(PipelineError) {
    let ids = nodes.map(\.id)
    guard ids.contains(output) else {
      throw PipelineError(
        .unknownNode(output, advice: Suggestion.advice(for: output, among: ids)),
        at: "\(pointer)/output")
    }
    for (index, node) in nodes.enumerated() where !node.stage.signature.role.isServed {
      throw PipelineError(
        .unsupported(
          "'\(node.id)' is a \(node.kind), and the body of a forEach is a line of stages",
          advice: "Move it before or behind the forEach"), at: "\(pointer)/nodes/\(index)")
    }
    for (index, edge) in edges.enumerated() where edge.policy != .block {
      throw PipelineError(
        .wrongValue(
          "an item is never dropped: edges inside a forEach only block",
          advice: "Drop whole frames before the forEach"), at: "\(pointer)/edges/\(index)/policy")
    }
    let fork = ids.first { id in edges.count { $0.from == id } + (id == output ? 1 : 0) > 1 }
    let starts = ids.count { id in !edges.contains { $0.to == id } }
    guard fork == nil, starts <= 1 else {
      throw PipelineError(
        .unsupported(
          "the body of a forEach is one line of stages",
          advice: "Do what branches in one stage, or in a forEach of its own"), at: pointer)
    }
  }
}
