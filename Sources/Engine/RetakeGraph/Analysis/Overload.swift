/// Servers, or the slots of one node, that have more work than they can handle.
struct Overload {
  var group: ServerGroup
  /// The number of servers that would be busy all the time.
  var busy: Double
  var servers: Int
  /// The nodes at which the frames accumulate. Older frames are served first, so this is the first
  /// node on each path.
  var entries: [Int]
  /// Whether a source loses frames because of the overload. Otherwise queues drop frames by their
  /// policy.
  var reachesSource: Bool

  /// The fraction of the arriving frames that can be served.
  var share: Double { Double(servers) / busy }
}
