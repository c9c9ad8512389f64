import RetakeCore

/// Tracks which captured frames are unfinished, from decisions alone. An arrival is not a decision,
/// but each captured frame has a decision line at the instant of its arrival.
struct TraceFrames: Sendable {
  private let graph: TraceGraph
  /// The number of sinks that have not received the outcome yet, by frame.
  private var open: [FrameID: Int] = [:]
  /// Frames that began at this instant. A line of another branch may refer to a frame that has
  /// already ended.
  private var begunNow: Set<FrameID> = []

  init(_ graph: TraceGraph) {
    self.graph = graph
  }

  var count: Int { open.count }

  /// In sorted order.
  var unfinished: [FrameID] { open.keys.sorted() }

  func isOpen(_ frame: FrameID) -> Bool { open[frame] != nil }

  mutating func advance() { begunNow.removeAll(keepingCapacity: true) }

  /// Whether a line shows that its frame has just been captured.
  ///
  /// - Parameter isWaiting: Whether the frame waits at the node. The line is then about a frame
  ///   that arrived earlier.
  mutating func isCaptured(_ kind: DecisionKind, _ work: TraceWork, isWaiting: Bool) -> Bool {
    let node = graph.nodes[work.node]
    let speaksOfArrival =
      node.role == .source
      // source-damaged, source-pool: the frame is captured and ends here. A lost one is not
      // captured.
      ? kind == .fail || kind == .drop
      // queue-drop-newest, queue-drop-oldest: only a frame that never waited ends as it arrives.
      : (kind == .deliver || kind == .drop && !isWaiting)
        && graph.readsSource(work.node, track: work.frame.track)
    let sinks = graph.sinkCount(ofTrack: work.frame.track)
    // Without a sink no line would ever end the frame.
    guard speaksOfArrival, sinks > 0, open[work.frame] == nil,
      begunNow.insert(work.frame).inserted
    else { return false }
    open[work.frame] = sinks
    return true
  }

  /// Ends a frame at one sink. Returns `true` when the frame has ended at all sinks.
  mutating func isOver(_ frame: FrameID) -> Bool {
    guard let sinks = open[frame] else { return false }
    open[frame] = sinks > 1 ? sinks - 1 : nil
    return sinks == 1
  }
}
