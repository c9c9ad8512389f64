package import RetakeCore
import Synchronization

/// Foreign code that runs for a frame, or for an item of it.
package struct WatchedBody: Hashable, Sendable {
  /// The node's number in the graph.
  package var node: Int
  package var frame: FrameID
  package var item: Int?
}
