/// The load of the servers at given rates.
struct ServerLoads {
  /// Numbers that differ by less are equal. A server that is busy all the time is not overloaded.
  static let slack = 1e-9

  let groups: [ServerGroup]
  /// The number of servers that would be busy all the time, by node.
  private(set) var busy: [Double]

  init(_ graph: GraphIndex, groups: [ServerGroup], rates: FlowRates) {
    self.groups = groups
    busy = graph.nodes.indices.map { node in
      rates.arriving[node] * graph.nodes[node].meanOfFrame / 1e9
    }
  }

  func busy(_ group: ServerGroup) -> Double { group.nodes.reduce(0) { $0 + busy[$1] } }

  /// Groups with more work than servers, and nodes of shared executors with more work than slots.
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
      // An executor that a node owns has a server for each slot, so its two limits are one.
      for node in group.nodes where group.isShared {
        let concurrency = graph.nodes[node].concurrency
        // With as many slots as servers, the group itself is overloaded first.
        guard concurrency < group.servers, busy[node] > Double(concurrency) + Self.slack else {
          continue
        }
        let own = ServerGroup(
          id: graph.nodes[node].id, isShared: false, servers: concurrency, nodes: [node])
        found.append(
          Overload(
            group: own, busy: busy[node], servers: concurrency, entries: [node],
            reachesSource: reachesSource[node]))
      }
    }
    return found
  }
}
