import RetakeGraph

extension ReportGraph {
  /// The pipeline as it is, every node equal.
  package init(_ pipeline: Pipeline) {
    self.init(
      nodes: pipeline.nodes.map { node in
        ReportNode(
          id: node.id, kind: node.kind, stateful: node.stage.signature.role == .stateful)
      },
      edges: pipeline.edges.map { edge in
        ReportEdge(
          from: edge.from, to: edge.to, policy: edge.policy.rawValue, capacity: edge.capacity)
      })
  }
}
