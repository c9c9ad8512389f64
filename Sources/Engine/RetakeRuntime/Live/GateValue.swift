package import RetakeCore

/// A value on which a timing decision depended while an event was handled.
package struct GateValue: Hashable, Sendable {
  package var node: Int
  package var frame: FrameID
  /// Items of a forEach, or the index of a route's port.
  package var value: Int

  package init(node: Int, frame: FrameID, value: Int) {
    self.node = node
    self.frame = frame
    self.value = value
  }
}
