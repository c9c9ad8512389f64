package import RetakeBuffers
package import RetakeCore

/// One decision in numbers. It becomes text only when it is digested, written or shown.
package struct Decision: Hashable, Sendable {
  package enum Detail: Hashable, Sendable {
    case none
    case reason(String)
    case code(String)
    case ending(FrameFate, node: Int)
    /// The frame that the value comes from.
    case from(FrameID)
    case items(Int)
    /// The number of frames that a server begins to serve together.
    case batch(Int)
    case gathered(items: Int, failed: Int)
    case parts(Int)
    /// The frame of each port, in the order of the ports' names.
    case ports([Port])
    case port(String)
    /// Nanoseconds.
    case interval(Int64)
    /// Nanoseconds since the frame's arrival.
    case waited(Int64)
    case heat(ThermalState, Temperature)
    case epoch(Int)
    case resize(pool: String, PoolController.Resize)
    case trip(pool: String, PoolController.Trip)
    /// Nanoseconds since the frame's arrival; refreshes at which the screen kept the frame before
    /// it; frames that arrived since then and were never shown.
    case shown(latency: Int64, repeats: Int64, unseen: Int)
  }

  package struct Port: Hashable, Sendable {
    package var name: String
    package var frame: FrameID?
  }

  package var time: Int64
  package var node: Int
  /// `nil` for a line about a node, without a frame.
  package var frame: FrameID?
  /// −1 for the frame itself.
  package var item: Int32 = -1
  package var kind: DecisionKind
  package var detail: Detail
}
