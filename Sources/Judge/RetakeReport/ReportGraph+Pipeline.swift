package import RetakeGraph

extension ReportGraph {
  /// The pipeline as it runs, each forEach with its stages and its end. Every node has the status
  /// equal.
  package init(_ pipeline: Pipeline) {
    // Decisions, digests and root causes have the names of the flattened pipeline.
    let flat = pipeline.flattened()
    self.init(
      nodes: flat.nodes.map { node in
        ReportNode(
          id: node.id, kind: node.kind, stateful: node.stage.signature.role == .stateful)
      },
      edges: flat.edges.map { edge in
        ReportEdge(
          from: Self.end(edge.from, edge.fromPort), to: Self.end(edge.to, edge.toPort),
          policy: edge.policy.rawValue, capacity: edge.capacity)
      })
  }

  private static func end(_ node: String, _ port: String?) -> String {
    port.map { "\(node).\($0)" } ?? node
  }
}
