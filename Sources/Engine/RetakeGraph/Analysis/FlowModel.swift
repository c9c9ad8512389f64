/// A pipeline at given frame rates: the rates that arrive at each node, the servers that are
/// overloaded, and how long frames wait in the queues that fill.
struct FlowModel {
  let graph: GraphIndex
  let order: [Int]
  let groups: [ServerGroup]
  let items: Int
  let sources: [Int: Double]
  /// If queues drop frames, the rates of the remaining frames.
  private(set) var rates: FlowRates
  private(set) var loads: ServerLoads
  /// Servers that are overloaded and delay a source.
  private(set) var overloads: [Overload] = []
  /// Servers that would be overloaded if queues did not drop frames.
  private(set) var relieved: [Overload] = []
  /// By node: whether a source loses frames if the node is too slow.
  let reachesSource: [Bool]

  /// The largest number of rounds for finding the limits of queues that drop. They converge
  /// geometrically.
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

  /// Lets queues drop the frames that the nodes downstream cannot handle.
  private mutating func settle() {
    var limits: [Int: Double] = [:]
    for _ in 0..<Self.roundsMax {
      let found = loads.overloads(graph, order, reachesSource: reachesSource)
      overloads = found.filter(\.reachesSource)
      let dropping = found.filter { !$0.reachesSource }
      // In each round: once its frames are limited, a server is no longer overloaded.
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

  /// - Returns: Whether a limit decreased by more than a millionth.
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

  /// Whether sources lose frames if the rates of all of them are multiplied by a factor.
  func holdsUpSource(times factor: Double) -> Bool {
    let more = FlowRates(
      graph, order: order, sources: sources.mapValues { $0 * factor }, items: items, limits: [:])
    return ServerLoads(graph, groups: groups, rates: more)
      .overloads(graph, order, reachesSource: reachesSource).contains(where: \.reachesSource)
  }

  /// The largest factor for the rates of the sources at which they lose no frames; `nil` for any
  /// factor.
  func factorMax() -> Double? {
    guard sources.values.contains(where: { $0 > 0 }) else { return nil }
    var (low, high) = (0.0, 1.0)
    // At most 40 doublings, to a factor of 10^12.
    while !holdsUpSource(times: high) {
      (low, high) = (high, high * 2)
      if high > 1e12 { return nil }
    }
    // 60 halvings exceed the precision of a Double.
    for _ in 0..<60 {
      let middle = (low + high) / 2
      if holdsUpSource(times: middle) { high = middle } else { low = middle }
    }
    return low
  }
}

/// The longest waits of a frame, in nanoseconds, because servers are overloaded.
struct FullQueues {
  /// By edge.
  var waits: [Double]
  /// By node: the time that a finished frame stays in its slot because the next queue is full.
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

  /// A full queue advances at the rate of the servers, one frame after another.
  private func fill(_ edge: Int, _ overload: Overload, _ full: inout FullQueues) {
    let sender = graph.senders[edge]
    let offered = rates.leaving[sender]
    // Downstream of a queue that drops, the rates are already the served rates.
    let served =
      overload.reachesSource
      ? offered * overload.share : min(offered, rates.arriving[graph.receivers[edge]])
    // Where no frames arrive, no frame waits, and the divisions below have no meaning.
    guard offered > 0, served > 0 else { return }
    let capacity = Double(graph.edges[edge].capacity)
    var wait = capacity * 1e9 / served
    switch graph.edges[edge].policy {
    case .block:
      guard graph.role(sender).isServed else { break }
      let node = graph.nodes[sender]
      // By `output-hold` a frame keeps its slot until its output is settled, and the slots share
      // the served rate equally.
      let hold = Double(node.concurrency) * 1e9 / served - node.meanOfFrame
      full.holds[sender] = max(full.holds[sender], hold)
    // A frame that was accepted waits for all frames before it.
    case .dropNewest: break
    // At most `capacity` newer frames can arrive before this one is dropped.
    case .dropOldest, .replace: wait = min(wait, capacity * 1e9 / offered)
    }
    full.waits[edge] = max(full.waits[edge], wait)
  }
}
