/// A path of a frame from its source to a sink, and the time of the frame on it.
struct FramePath {
  /// From the source to the sink.
  var nodes: [Int]
  var time: FrameTime
}

extension FrameTimes {
  /// The largest number of paths to one sink that are listed.
  static let pathsMax = 32

  /// The path on which the last part of each frame reaches a sink.
  func slowest(to sink: Int) -> FramePath {
    var nodes = [sink]
    // Ends: each round goes back by one node, and the graph has no cycles.
    while let edge = nodes.last.flatMap({ lastEdge[$0] }) { nodes.append(graph.senders[edge]) }
    return FramePath(nodes: nodes.reversed(), time: leaving[sink])
  }

  /// Every path to a sink with the sum of its nodes' times, the slowest first. If there are more
  /// than `pathsMax`, only the slowest.
  func paths(to sink: Int) -> [FramePath] {
    guard pathCounts[sink] <= Self.pathsMax else { return [slowest(to: sink)] }
    return (0..<pathCounts[sink]).map { path(number: $0, to: sink) }
      .sorted { $0.time.longest > $1.time.longest }
  }

  /// Walks back from the sink. Each number selects another path.
  private func path(number: Int, to sink: Int) -> FramePath {
    var (node, left) = (sink, number)
    var edges: [Int] = []
    // Ends: each round goes back by one node, and the graph has no cycles.
    while let edge = edge(to: node, &left) {
      edges.append(edge)
      node = graph.senders[edge]
    }
    return path(from: node, edges.reversed())
  }

  private func edge(to node: Int, _ left: inout Int) -> Int? {
    for edge in Self.frameEdges(graph, to: node) {
      // The numbers are divided among the edges, as many to each as its sender has paths. `paths`
      // requests few paths only, so the bounded counts are exact here.
      if left < pathCounts[graph.senders[edge]] { return edge }
      left -= pathCounts[graph.senders[edge]]
    }
    return nil
  }

  private func path(from source: Int, _ edges: [Int]) -> FramePath {
    var path = FramePath(nodes: [source], time: own[source])
    for edge in edges {
      let node = graph.receivers[edge]
      path.nodes.append(node)
      // The timeout of a join limits when the parts arrive; the node's own time comes after it.
      path.time = path.time.adding(wait(on: edge)).limited(by: limits[node]).adding(own[node])
    }
    return path
  }
}
