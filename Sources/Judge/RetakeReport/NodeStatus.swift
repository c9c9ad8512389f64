/// The color of one node in one root cause's graph.
package struct NodeStatus: Hashable, Sendable, Codable {
  package var node: String
  package var status: ReportNode.Status
}
