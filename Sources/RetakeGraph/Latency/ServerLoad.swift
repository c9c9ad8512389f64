import RetakeCore

/// The servers that one or several nodes of a flat graph share.
struct ServerGroup {
  /// The executor's id; of a node with an executor of its own the node's.
  var id: String
  /// Whether the executor is declared.
  var isShared: Bool
  var servers: Int
  var nodes: [Int]
}

extension GraphIndex {
  /// Declared executors that serve somebody, in their order, then the nodes' own, in theirs.
  func serverGroups(_ executors: [PipelineExecutor]) -> [ServerGroup] {
    var groups = executors.map {
      ServerGroup(id: $0.id, isShared: true, servers: $0.count, nodes: [])
    }
    let places = Dictionary(
      zip(executors.map(\.id), executors.indices), uniquingKeysWith: { first, _ in first })
    for node in nodes.indices where role(node).isServed {
      if let place = nodes[node].executor.flatMap({ places[$0] }) {
        groups[place].nodes.append(node)
      } else {
        groups.append(
          ServerGroup(
            id: nodes[node].id, isShared: false, servers: nodes[node].lanes, nodes: [node]))
      }
    }
    return groups.filter { !$0.nodes.isEmpty }
  }

  /// Where the frames of a node that is too slow pile up.
  struct Backlog {
    /// Edges that fill, from the node backwards, those that drop included.
    var full: [Int] = []
    /// Edges that drop what has no room.
    var dropping: [Int] = []
    /// Sources that lose frames before capture.
    var sources: [Int] = []
  }

  /// The edges along which a node holds up those before it: a latest join takes the values of its
  /// other ports as they come.
  private func holdingUp(_ node: Int) -> [Int] {
    let edges = edgesByPort(to: node).compactMap { $0 }
    return role(node) == .latest ? Array(edges.prefix(1)) : edges
  }

  /// Goes back from a node over edges that block, to edges that drop and to sources.
  func backlog(before start: Int) -> Backlog {
    var backlog = Backlog()
    var seen = Array(repeating: false, count: nodes.count)
    var open = [start]
    seen[start] = true
    while let node = open.popLast() {
      if role(node) == .source { backlog.sources.append(node) }
      for edge in holdingUp(node) {
        backlog.full.append(edge)
        if edges[edge].policy != .block {
          backlog.dropping.append(edge)
        } else if !seen[senders[edge]] {
          seen[senders[edge]] = true
          open.append(senders[edge])
        }
      }
    }
    return backlog
  }

  /// Whether a source loses frames when the node is too slow, by node.
  func reachesSource(_ order: [Int]) -> [Bool] {
    var reaches = Array(repeating: false, count: nodes.count)
    for node in order {
      reaches[node] =
        role(node) == .source
        || holdingUp(node).contains { edges[$0].policy == .block && reaches[senders[$0]] }
    }
    return reaches
  }

  /// Those of the nodes that none of the others comes before.
  func first(of nodes: [Int], _ order: [Int]) -> [Int] {
    guard nodes.count > 1 else { return nodes }
    let members = Set(nodes)
    var isBehind = Array(repeating: false, count: self.nodes.count)
    for node in order {
      isBehind[node] = incoming[node].contains {
        isBehind[senders[$0]] || members.contains(senders[$0])
      }
    }
    return nodes.filter { !isBehind[$0] }
  }
}

/// Servers, or the lanes of one node, that have more to do than they can.
struct Overload {
  var group: ServerGroup
  /// Servers that would be busy all the time.
  var busy: Double
  var servers: Int
  /// The nodes at which the frames pile up: those with older frames are served first, so it is the
  /// first on each path.
  var entries: [Int]
  /// Whether a source loses frames for it; otherwise queues drop them, as they were told to.
  var reachesSource: Bool

  /// The part of what arrives that can be served.
  var share: Double { Double(servers) / busy }
}

/// How busy the servers are at given rates.
struct ServerLoads {
  /// Numbers that differ by less are equal: a server that is busy all the time is not overloaded.
  static let slack = 1e-9

  let groups: [ServerGroup]
  /// Servers that would be busy all the time, by node.
  private(set) var busy: [Double]

  init(_ graph: GraphIndex, groups: [ServerGroup], rates: FlowRates) {
    self.groups = groups
    busy = graph.nodes.indices.map { node in
      rates.arriving[node] * (graph.nodes[node].cost?.estimate.mean ?? 0) / 1e9
    }
  }

  func busy(_ group: ServerGroup) -> Double { group.nodes.reduce(0) { $0 + busy[$1] } }

  /// Groups with more work than servers, then nodes of shared executors with more than lanes.
  func overloads(_ graph: GraphIndex, _ order: [Int], reachesSource: [Bool]) -> [Overload] {
    var found: [Overload] = []
    for group in groups {
      let total = busy(group)
      if total > Double(group.servers) + Self.slack {
        let entries = graph.first(of: group.nodes, order)
        found.append(
          Overload(
            group: group, busy: total, servers: group.servers, entries: entries,
            reachesSource: entries.contains { reachesSource[$0] }))
      }
      for node in group.nodes where group.isShared {
        let lanes = graph.nodes[node].lanes
        guard lanes < group.servers, busy[node] > Double(lanes) + Self.slack else { continue }
        let own = ServerGroup(
          id: graph.nodes[node].id, isShared: false, servers: lanes, nodes: [node])
        found.append(
          Overload(
            group: own, busy: busy[node], servers: lanes, entries: [node],
            reachesSource: reachesSource[node]))
      }
    }
    return found
  }
}
