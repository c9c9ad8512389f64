import RetakeCore

/// A bounded queue between two nodes.
package struct PipelineEdge: Hashable, Sendable {
  package static let defaultCapacity = 3
  package static let capacityRange = 1...65_536

  package var from: String
  package var to: String
  package var fromPort: String?
  package var toPort: String?
  /// Frames that may wait here, not counting frames in service.
  package var capacity: Int
  package var policy: EdgePolicy
  /// In a flat graph: the pointer to the edge in the document.
  package var pointer: String?

  package init(
    from: String, to: String, fromPort: String? = nil, toPort: String? = nil,
    capacity: Int = PipelineEdge.defaultCapacity, policy: EdgePolicy = .block
  ) {
    self.from = from
    self.to = to
    self.fromPort = fromPort
    self.toPort = toPort
    self.capacity = capacity
    self.policy = policy
  }
}
