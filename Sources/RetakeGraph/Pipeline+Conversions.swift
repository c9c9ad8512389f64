import RetakeBuffers
import RetakeCore

extension Pipeline {
  /// The same graph with a `convert` node before each stage that cannot take the pixel format it
  /// would get from sources of the given formats.
  package func insertingConversions(
    sources formats: [String: PixelFormat], catalog: some StageCatalog
  ) throws(PipelineError) -> Pipeline {
    var result = self
    var given = formats
    let edgesTo = Dictionary(grouping: edges, by: \.to)
    for node in try topologicalOrder() {
      // A join's frame is that of its first port that has one.
      let edges = edgesTo[node.id] ?? []
      let byPort =
        node.stage.inputPorts.isEmpty
        ? edges : node.stage.inputPorts.compactMap { port in edges.first { $0.toPort == port } }
      guard var format = byPort.lazy.compactMap({ given[$0.from] }).first else { continue }
      let accepted = node.stage.signature.inputFormats
      if node.stage.signature.input == .frame, !accepted.isEmpty, !accepted.contains(format) {
        format = accepted[0]
        try result.insertConversion(before: node.id, to: format, catalog: catalog)
      }
      let output = node.stage.signature.output
      if output == nil || output == .frame {
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
