/// The role of a kind of node in a graph.
public enum StageRole: Hashable, Sendable {
  case source
  case pure
  case stateful
  /// Thins frames by their time; needs no server.
  case throttle
  /// Thins frames by their number; needs no server.
  case sample
  /// Sends each frame to one of its ports, depending on its value.
  case route
  /// Pairs the frames of its ports. Continues with all of them, or with the frames that arrived.
  case join
  /// Continues with each frame of its first port and the newest value of the others.
  case latest
  /// Passes the items of a frame to the body of a forEach, one at a time.
  case fork
  /// Gathers the items of a forEach, in order.
  case gather
  case sink

  /// Whether a server handles the frames. Such nodes have a cost.
  package var isServed: Bool { self == .pure || self == .stateful }
}
