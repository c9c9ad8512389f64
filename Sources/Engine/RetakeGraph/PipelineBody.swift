/// The stages of a forEach, in one chain from the item to the output that is gathered.
package struct PipelineBody: Sendable {
  package var nodes: [PipelineNode]
  package var edges: [PipelineEdge]
  /// The node whose output is gathered.
  package var output: String

  package init(nodes: [PipelineNode], edges: [PipelineEdge], output: String) {
    self.nodes = nodes
    self.edges = edges
    self.output = output
  }
}
