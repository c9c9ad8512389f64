import RetakeCore

/// A pipeline at given frame rates: what comes to each node, who is overloaded, and how long frames
/// wait in the queues that fill.
struct FlowModel {
  let graph: GraphIndex
  let order: [Int]
  let groups: [ServerGroup]
  let items: Int
  let sources: [Int: Double]
  /// Where queues drop, what they let through.
  private(set) var rates: FlowRates
  private(set) var loads: ServerLoads
  /// Servers that are overloaded and hold up a source.
  private(set) var overloads: [Overload] = []
  /// Servers that would be, were it not for the queues that drop.
  private(set) var relieved: [Overload] = []
  /// Whether a source loses frames when the node is too slow, by node.
  let reachesSource: [Bool]

  /// The most rounds in which the limits of queues that drop are found; they meet geometrically.
  private static let roundsMax = 32

  init(
    _ graph: GraphIndex, order: [Int], executors: [PipelineExecutor], sources: [Int: Double],
    items: Int
  ) {
    self.graph = graph
    self.order = order
    self.sources = sources
    self.items = items
    groups = graph.serverGroups(executors)
    reachesSource = graph.reachesSource(order)
    rates = FlowRates(graph, order: order, sources: sources, items: items, limits: [:])
    loads = ServerLoads(graph, groups: groups, rates: rates)
    settle()
  }

  /// Lets queues drop what the nodes behind them cannot take.
  private mutating func settle() {
    var limits: [Int: Double] = [:]
    for _ in 0..<Self.roundsMax {
      let found = loads.overloads(graph, order, reachesSource: reachesSource)
      overloads = found.filter(\.reachesSource)
      let dropping = found.filter { !$0.reachesSource }
      note(dropping)
      guard limit(dropping, &limits) else { return }
      rates = FlowRates(graph, order: order, sources: sources, items: items, limits: limits)
      loads = ServerLoads(graph, groups: groups, rates: rates)
    }
  }

  private mutating func note(_ dropping: [Overload]) {
    let known = Set(relieved.map(\.group.id))
    relieved += dropping.filter { !known.contains($0.group.id) }
  }

  /// - Returns: Whether a limit changed by more than a thousandth.
  private func limit(_ dropping: [Overload], _ limits: inout [Int: Double]) -> Bool {
    var changed = false
    for overload in dropping {
      for entry in overload.entries {
        for edge in graph.backlog(before: entry).dropping {
          let node = graph.receivers[edge]
          let limit = rates.arriving[node] * overload.share
          guard limit < (limits[node] ?? .infinity) * 0.999_999 else { continue }
          limits[node] = limit
          changed = true
        }
      }
    }
    return changed
  }

  /// Whether sources lose frames when all of them give so many times as many.
  func holdsUpSource(times factor: Double) -> Bool {
    let more = FlowRates(
      graph, order: order, sources: sources.mapValues { $0 * factor }, items: items, limits: [:])
    return ServerLoads(graph, groups: groups, rates: more)
      .overloads(graph, order, reachesSource: reachesSource).contains(where: \.reachesSource)
  }

  /// How many times as many frames the sources may give before they lose some; `nil` for any number.
  func factorMax() -> Double? {
    guard sources.values.contains(where: { $0 > 0 }) else { return nil }
    var (low, high) = (0.0, 1.0)
    // At most 40 doublings, to a million million times as many.
    while !holdsUpSource(times: high) {
      (low, high) = (high, high * 2)
      if high > 1e12 { return nil }
    }
    // 60 halvings are more than the digits of a Double.
    for _ in 0..<60 {
      let middle = (low + high) / 2
      if holdsUpSource(times: middle) { high = middle } else { low = middle }
    }
    return low
  }
}

/// Nanoseconds that a frame waits at most because servers are overloaded.
struct FullQueues {
  /// By edge.
  var waits: [Double]
  /// By node: finished, in a lane, for room in the next queue.
  var holds: [Double]
}

extension FlowModel {
  func fullQueues() -> FullQueues {
    var full = FullQueues(
      waits: Array(repeating: 0, count: graph.edges.count),
      holds: Array(repeating: 0, count: graph.nodes.count))
    for overload in overloads + relieved {
      for entry in overload.entries {
        for edge in graph.backlog(before: entry).full { fill(edge, overload, &full) }
      }
    }
    return full
  }

  /// A full queue moves at the rate of the servers, one frame after another.
  private func fill(_ edge: Int, _ overload: Overload, _ full: inout FullQueues) {
    let sender = graph.senders[edge]
    let offered = rates.leaving[sender]
    // Behind a queue that drops, the rates are those that are served.
    let served =
      overload.reachesSource
      ? offered * overload.share : min(offered, rates.arriving[graph.receivers[edge]])
    guard offered > 0, served > 0 else { return }
    let capacity = Double(graph.edges[edge].capacity)
    var wait = capacity * 1e9 / served
    switch graph.edges[edge].policy {
    case .block:
      guard graph.role(sender).isServed else { break }
      let node = graph.nodes[sender]
      let hold = Double(node.lanes) * 1e9 / served - (node.cost?.estimate.mean ?? 0)
      full.holds[sender] = max(full.holds[sender], hold)
    case .dropNewest: break
    // Only so many newer frames may come before this one is dropped.
    case .dropOldest, .replace: wait = min(wait, capacity * 1e9 / offered)
    }
    full.waits[edge] = max(full.waits[edge], wait)
  }
}
