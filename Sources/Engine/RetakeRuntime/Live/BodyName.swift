package import RetakeCore

/// Identifies one call of a stage's body.
package struct BodyName: Hashable, Sendable {
  /// The node's number in the graph.
  package var node: Int
  package var frame: FrameID
  /// −1 for the frame itself.
  package var item: Int

  package init(node: Int, frame: FrameID, item: Int = -1) {
    self.node = node
    self.frame = frame
    self.item = item
  }
}
