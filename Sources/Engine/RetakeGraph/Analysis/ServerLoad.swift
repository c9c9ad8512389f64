/// The servers that one or more nodes of a flat graph share.
struct ServerGroup {
  /// The executor's ID; for a node with its own executor, the node's ID.
  var id: String
  /// Whether the executor is declared.
  var isShared: Bool
  var servers: Int
  var nodes: [Int]
}

extension GraphIndex {
  /// Declared executors that serve a node, in order, then the nodes' own executors, in order.
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
            id: nodes[node].id, isShared: false, servers: nodes[node].concurrency, nodes: [node]))
      }
    }
    return groups.filter { !$0.nodes.isEmpty }
  }

  /// The places where frames accumulate upstream of a node that is too slow.
  struct Backlog {
    /// Edges that fill, from the node backwards, including edges that drop.
    var full: [Int] = []
    /// Edges that drop frames when they are full.
    var dropping: [Int] = []
    /// Sources that lose frames before capture.
    var sources: [Int] = []
  }

  /// The edges on which a node delays the nodes before it. A latest join does not delay its other
  /// ports: it reads their values as they arrive.
  private func holdingUp(_ node: Int) -> [Int] {
    let edges = edgesByPort(to: node).compactMap { $0 }
    return role(node) == .latest ? Array(edges.prefix(1)) : edges
  }

  /// Walks back from a node over edges that block, to edges that drop and to sources.
  func backlog(before start: Int) -> Backlog {
    var backlog = Backlog()
    var seen = Array(repeating: false, count: nodes.count)
    var open = [start]
    seen[start] = true
    while let node = open.popLast() {
      if role(node) == .source { backlog.sources.append(node) }
      for edge in holdingUp(node) {
        // An edge that drops is full, too. It only keeps the backlog from going further back.
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

  /// By node: whether a source loses frames if the node is too slow.
  func reachesSource(_ order: [Int]) -> [Bool] {
    var reaches = Array(repeating: false, count: nodes.count)
    for node in order {
      reaches[node] =
        role(node) == .source
        || holdingUp(node).contains { edges[$0].policy == .block && reaches[senders[$0]] }
    }
    return reaches
  }

  /// The nodes that have no other given node upstream.
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
