/// A pipeline as the report draws it.
package struct ReportGraph: Hashable, Sendable, Codable {
  package var nodes: [ReportNode]
  package var edges: [ReportEdge]

  package init(nodes: [ReportNode], edges: [ReportEdge]) {
    self.nodes = nodes
    self.edges = edges
  }
}
