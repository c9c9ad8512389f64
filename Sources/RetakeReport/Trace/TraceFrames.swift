import RetakeCore

/// Which captured frames are not over yet, found from decisions alone: arrivals are no decisions,
/// but each captured frame has a line at the instant of its arrival.
struct TraceFrames: Sendable {
  private let graph: TraceGraph
  /// Sinks that are not told yet, by frame.
  private var open: [FrameID: Int] = [:]
  /// Frames that began at this instant: another branch may speak of one that is over already.
  private var begunNow: Set<FrameID> = []

  init(_ graph: TraceGraph) {
    self.graph = graph
  }

  var count: Int { open.count }

  /// In order.
  var unfinished: [FrameID] { open.keys.sorted() }

  func isOpen(_ frame: FrameID) -> Bool { open[frame] != nil }

  mutating func advance() { begunNow.removeAll(keepingCapacity: true) }

  /// Whether a line says that its frame was captured just now.
  ///
  /// - Parameter isWaiting: Whether the frame waits at the node: then the line is about a frame that
  ///   came earlier.
  mutating func isCaptured(_ kind: String, _ work: TraceWork, isWaiting: Bool) -> Bool {
    let node = graph.nodes[work.node]
    let speaksOfArrival =
      node.role == .source
      ? kind == "fail" || kind == "drop"
      : (kind == "deliver" || kind == "drop" && !isWaiting)
        && graph.readsSource(work.node, track: work.frame.track)
    let sinks = graph.sinkCount(ofTrack: work.frame.track)
    guard speaksOfArrival, sinks > 0, open[work.frame] == nil,
      begunNow.insert(work.frame).inserted
    else { return false }
    open[work.frame] = sinks
    return true
  }

  /// Whether a line at a sink ends its frame there: `true` when all sinks know.
  mutating func isOver(_ frame: FrameID) -> Bool {
    guard let sinks = open[frame] else { return false }
    open[frame] = sinks > 1 ? sinks - 1 : nil
    return sinks == 1
  }
}
