import RetakeBuffers
import RetakeCore

extension Pipeline {
  /// Checks the graph before anything runs: ids, edges, cycles, types, reachability, and that it
  /// has a source, a sink and one primary sink.
  ///
  /// - Throws: `PipelineError` with the pointer of the node or edge in the document's order.
  public func validate() throws(PipelineError) {
    try checkNodes()
    try checkNumbers()
    try checkEdges()
    _ = try ranks()
    try checkShape()
    try checkTypes()
  }

  private func checkNodes() throws(PipelineError) {
    guard !nodes.isEmpty else {
      throw PipelineError(
        .missing("the pipeline has no nodes", advice: "Add a source, a stage and a sink"),
        at: "/nodes")
    }
    var seen: Set<String> = []
    for (index, node) in nodes.enumerated() where !seen.insert(node.id).inserted {
      throw PipelineError(.duplicateID(node.id), at: "/nodes/\(index)/id")
    }
    var executorIDs: Set<String> = []
    for (index, executor) in executors.enumerated()
    where !executorIDs.insert(executor.id).inserted {
      throw PipelineError(.duplicateID(executor.id), at: "/executors/\(index)/id")
    }
    for (index, node) in nodes.enumerated() {
      guard let executor = node.executor, !executorIDs.contains(executor) else { continue }
      throw PipelineError(
        .unknownExecutor(
          executor, advice: Suggestion.advice(for: executor, among: executors.map(\.id))),
        at: "/nodes/\(index)/executor")
    }
  }

  private func checkEdges() throws(PipelineError) {
    let ids = nodes.map(\.id)
    let known = Set(ids)
    for (index, edge) in edges.enumerated() {
      for (key, id) in [("from", edge.from), ("to", edge.to)] where !known.contains(id) {
        throw PipelineError(
          .unknownNode(id, advice: Suggestion.advice(for: id, among: ids)),
          at: "/edges/\(index)/\(key)")
      }
      for (key, port) in [("from", edge.fromPort), ("to", edge.toPort)] where port != nil {
        throw PipelineError(
          .wrongValue("this node has one port only", advice: "Leave out the port's name"),
          at: "/edges/\(index)/\(key)")
      }
    }
  }

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
      throw PipelineError(.cycle(circle), at: "/edges/\(index)")
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

  private func checkShape() throws(PipelineError) {
    let edgesTo = Dictionary(grouping: edges, by: \.to)
    let edgesFrom = Dictionary(grouping: edges, by: \.from)
    for (index, node) in nodes.enumerated() {
      let incoming = edgesTo[node.id]?.count ?? 0
      let outgoing = edgesFrom[node.id]?.count ?? 0
      switch node.stage.signature.role {
      case .source where incoming > 0:
        throw PipelineError(
          .unsupported("the source '\(node.id)' cannot have an input", advice: "Remove the edge"),
          at: "/nodes/\(index)")
      case .sink where outgoing > 0:
        throw PipelineError(
          .unsupported("the sink '\(node.id)' cannot have an output", advice: "Remove the edge"),
          at: "/nodes/\(index)")
      case .pure, .stateful, .throttle, .sink:
        if incoming == 0 { throw PipelineError(.unreachable(node.id), at: "/nodes/\(index)") }
        if incoming > 1 {
          throw PipelineError(
            .unsupported(
              "'\(node.id)' has \(incoming) inputs, and this version runs one line of stages",
              advice: "Make a pipeline of each branch"), at: "/nodes/\(index)")
        }
      case .source: break
      }
      if node.stage.signature.role != .sink, outgoing == 0 {
        throw PipelineError(
          .missing(
            "what '\(node.id)' gives goes nowhere",
            advice: "Add an edge to a sink such as 'results'"), at: "/nodes/\(index)")
      }
      if outgoing > 1 {
        throw PipelineError(
          .unsupported(
            "'\(node.id)' has \(outgoing) outputs, and this version runs one line of stages",
            advice: "Make a pipeline of each branch"), at: "/nodes/\(index)")
      }
    }
    try checkEnds()
  }

  private func checkEnds() throws(PipelineError) {
    let sources = nodes.count { $0.stage.signature.role == .source }
    guard sources == 1 else {
      throw PipelineError(
        sources == 0
          ? .missing("the pipeline has no source", advice: "Add a node of kind 'session'")
          : .unsupported(
            "the pipeline has \(sources) sources, and this version runs one line of stages",
            advice: "Make a pipeline of each"), at: "/nodes")
    }
    guard nodes.count(where: \.isPrimary) <= 1 else {
      throw PipelineError(
        .wrongValue("two sinks are marked primary", advice: "Keep one"), at: "/nodes")
    }
    for (index, node) in nodes.enumerated()
    where node.isPrimary && node.stage.signature.role != .sink {
      throw PipelineError(
        .wrongValue("'\(node.id)' is no sink and cannot be primary", advice: nil),
        at: "/nodes/\(index)/primary")
    }
  }

  private func checkTypes() throws(PipelineError) {
    let takes = Dictionary(
      nodes.map { ($0.id, $0.stage.signature.input) }, uniquingKeysWith: { first, _ in first })
    let outputs = try outputs()
    for (index, edge) in edges.enumerated() {
      guard let gives = outputs[edge.from], let takes = takes[edge.to] ?? nil, gives != takes
      else { continue }
      throw PipelineError(
        .typeMismatch(
          from: edge.from, gives: gives.description, to: edge.to, takes: takes.description),
        at: "/edges/\(index)")
    }
  }

  /// What each node gives; nodes that pass on their input give what their own input gives.
  private func outputs() throws(PipelineError) -> [String: ValueKind] {
    let edgesTo = Dictionary(grouping: edges, by: \.to)
    var outputs: [String: ValueKind] = [:]
    for node in try topologicalOrder() {
      outputs[node.id] =
        node.stage.signature.output ?? edgesTo[node.id]?.first.flatMap { outputs[$0.from] }
    }
    return outputs
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

  /// The same graph with a `convert` node before each stage that cannot take the pixel format it
  /// would get from sources of the given formats.
  package func insertingConversions(
    sources formats: [String: PixelFormat], catalog: some StageCatalog
  ) throws(PipelineError) -> Pipeline {
    var result = self
    var given = formats
    let edgesTo = Dictionary(grouping: edges, by: \.to)
    for node in try topologicalOrder() {
      guard let edge = edgesTo[node.id]?.first, var format = given[edge.from]
      else { continue }
      let accepted = node.stage.signature.inputFormats
      if node.stage.signature.input == .frame, !accepted.isEmpty, !accepted.contains(format) {
        format = accepted[0]
        try result.insertConversion(before: node.id, to: format, catalog: catalog)
      }
      if (node.stage.signature.output ?? .frame) == .frame {
        given[node.id] = node.stage.outputFormat(format)
      }
    }
    return result
  }

  private mutating func insertConversion(
    before id: String, to format: PixelFormat, catalog: some StageCatalog
  ) throws(PipelineError) {
    let stage: AnyStage
    do throws(OptionProblem) {
      stage = try catalog.make(
        kind: "convert", options: .object(["format": .string(format.rawValue)]))
    } catch {
      throw PipelineError(
        .unsupported(
          "'\(id)' takes \(format.rawValue) only, and no conversion to it is registered",
          advice: "Register a stage of kind 'convert'"), at: "/nodes")
    }
    let inserted = "\(id)/convert"
    nodes.append(PipelineNode(id: inserted, stage: stage))
    for index in edges.indices where edges[index].to == id {
      let source = edges[index].from
      edges[index].from = inserted
      edges.append(PipelineEdge(from: source, to: inserted))
    }
  }
}
