import RetakeBuffers
import RetakeCore

extension Pipeline {
  /// The same graph with a `convert` node before each stage that cannot take the pixel format it
  /// would get from sources of the given formats.
  package func insertingConversions(
    sources formats: [String: PixelFormat], catalog: some StageCatalog
  ) throws(PipelineError) -> Pipeline {
    var result = self
    try forEachFormat(sources: formats) { node, format throws(PipelineError) in
      guard !node.stage.takes(format) else { return format }
      let accepted = node.stage.signature.inputFormats[0]
      try result.insertConversion(before: node.id, to: accepted, catalog: catalog)
      return accepted
    }
    return result
  }

  /// The stages that would be given a pixel format that they do not take if a source changed its
  /// own while it runs: their frames must be looked at.
  package func stagesToGuard() throws(PipelineError) -> Set<String> {
    let sources = nodes.filter { $0.stage.signature.role == .source }.map(\.id)
    var found: Set<String> = []
    for other in PixelFormat.allCases {
      let formats = Dictionary(sources.map { ($0, other) }, uniquingKeysWith: { first, _ in first })
      try forEachFormat(sources: formats) { node, format throws(PipelineError) in
        if !node.stage.takes(format) { found.insert(node.id) }
        return format
      }
    }
    return found
  }

  /// Walks through the graph with the pixel format of each node's frame.
  ///
  /// - Parameter visit: Gives the format that the node is given in the end.
  private func forEachFormat(
    sources formats: [String: PixelFormat],
    visit: (PipelineNode, PixelFormat) throws(PipelineError) -> PixelFormat
  ) throws(PipelineError) {
    var given = formats
    let edgesTo = Dictionary(grouping: edges, by: \.to)
    for node in try topologicalOrder() {
      // A join's frame is that of its first port that has one.
      let edges = edgesTo[node.id] ?? []
      let byPort =
        node.stage.inputPorts.isEmpty
        ? edges : node.stage.inputPorts.compactMap { port in edges.first { $0.toPort == port } }
      guard let format = byPort.lazy.compactMap({ given[$0.from] }).first else { continue }
      let taken = try visit(node, format)
      let output = node.stage.signature.output
      if output == nil || output == .frame { given[node.id] = node.stage.outputFormat(taken) }
    }
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
          advice: "Register a stage of kind 'convert'"), at: node(id)?.pointer ?? "/nodes")
    }
    let inserted = "\(id)/convert"
    var node = PipelineNode(id: inserted, stage: stage)
    node.scope = self.node(id)?.scope
    nodes.append(node)
    for index in edges.indices where edges[index].to == id {
      var edge = PipelineEdge(from: edges[index].from, to: inserted)
      edge.fromPort = edges[index].fromPort
      edges[index].from = inserted
      edges[index].fromPort = nil
      edges.append(edge)
    }
  }
}

extension AnyStage {
  fileprivate func takes(_ format: PixelFormat) -> Bool {
    signature.input != .frame || signature.inputFormats.isEmpty
      || signature.inputFormats.contains(format)
  }
}
