/// The nodes, identified by index.
struct TraceGraph: Sendable {
  let nodes: [TraceNode]
  /// By node: the upstream nodes that need no server and pass their frames on to it.
  let passingInputs: [[Int]]
  /// By node: the tracks whose frames reach it when they arrive, and in no other way. Such a node
  /// always follows a source.
  private let arrivingTracks: [Set<Int>]
  private let indexes: [String: Int]
  /// By track: the number of sinks whose ledger counts its frames.
  private let sinksByTrack: [Int: Int]

  /// - Parameter nodes: In topological order.
  init(_ nodes: [TraceNode]) {
    self.nodes = nodes
    var indexes: [String: Int] = [:]
    for (index, node) in nodes.enumerated() { indexes[node.id] = index }
    self.indexes = indexes
    let inputs = nodes.map { $0.inputs.compactMap { indexes[$0] } }
    passingInputs = inputs.map { $0.filter { nodes[$0].role == .passing } }
    arrivingTracks = Self.arrivingTracks(nodes, inputs)
    var sinksByTrack: [Int: Int] = [:]
    for (index, node) in nodes.enumerated() where node.role == .sink {
      var source = index
      // Ends: inputs come before their node. A node follows the frames of its first port.
      while let input = inputs[source].first, input < source { source = input }
      if let track = nodes[source].track { sinksByTrack[track, default: 0] += 1 }
    }
    self.sinksByTrack = sinksByTrack
  }

  private static func arrivingTracks(_ nodes: [TraceNode], _ inputs: [[Int]]) -> [Set<Int>] {
    var passing: [Set<Int>] = []
    return nodes.indices.map { index in
      // The nodes are in topological order. An input after its node has no entry in `passing` yet.
      let known = inputs[index].filter { $0 < index }
      let sources = known.filter { nodes[$0].role == .source }
      let arriving = Set(sources.compactMap { nodes[$0].track })
      let passedOn = known.reduce(into: Set<Int>()) { $0.formUnion(passing[$1]) }
      passing.append(arriving.union(passedOn))
      // If the track also comes through another node, a line does not say which way its frame took.
      return arriving.subtracting(passedOn)
    }
  }

  subscript(id: String) -> Int? { indexes[id] }

  /// The number of sinks that receive the outcome of a frame of this track.
  func sinkCount(ofTrack track: Int) -> Int { sinksByTrack[track] ?? 0 }

  /// Whether a frame of this track reaches the node when it arrives.
  func readsSource(_ node: Int, track: Int) -> Bool { arrivingTracks[node].contains(track) }
}
