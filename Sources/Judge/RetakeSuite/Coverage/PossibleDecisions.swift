import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTimePlane

/// The branches that the decisions of a pipeline can have, by the rules of docs/architecture.md.
///
/// Conditions that only a session can fulfill, such as damaged frames, are left out.
struct PossibleDecisions {
  /// Whether queues, pools, timeouts, screens and the device decide: the mode is `simulate`.
  private let isTimed: Bool
  private let graph: GraphIndex
  private let pools: [String: PipelinePool]
  /// The first node of each pool in pipeline order, which the lines of an adaptive pool name.
  private let poolNames: [String: Int]
  /// By node: whether a frame can wait in front of it in virtual time.
  private var holds: [Bool]

  /// - Parameter anyCost: Whether every stage can have a cost, because the costs are not in the
  ///   pipeline.
  init(_ pipeline: Pipeline, isTimed: Bool, anyCost: Bool) {
    let flat = pipeline.flattened()
    let graph = GraphIndex(flat)
    self.isTimed = isTimed
    self.graph = graph
    pools = Dictionary(flat.pools.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    poolNames = Dictionary(
      graph.nodes.indices.compactMap { index in graph.nodes[index].pool.map { ($0, index) } },
      uniquingKeysWith: { first, _ in first })
    holds = Array(repeating: false, count: graph.nodes.count)
    guard isTimed else { return }
    // The pipeline is valid, so it has ranks. The nodes downstream come first.
    let ranks = (try? graph.ranks()) ?? holds.map { _ in 0 }
    for node in graph.nodes.indices.sorted(by: { (ranks[$1], $1) < (ranks[$0], $0) }) {
      holds[node] = isSlow(node, anyCost) || isBlocked(node)
    }
  }

  /// In the order of the pipeline's nodes.
  var labels: [DecisionLabel] {
    graph.nodes.indices.flatMap { node in
      texts(of: node).map { DecisionLabel(graph.nodes[node].id, $0) }
    }
  }

  /// By route: its ports that an edge begins at, in the order of the route.
  var ports: [String: [String]] {
    var ports: [String: [String]] = [:]
    for node in graph.nodes.indices where graph.role(node) == .route {
      let used = Set(graph.outgoing[node].compactMap { graph.edges[$0].fromPort })
      ports[graph.nodes[node].id] = graph.nodes[node].stage.outputPorts.filter(used.contains)
    }
    return ports
  }

  /// A sink that frames reach only by way of one port of a route, and the nodes where its other
  /// frames end; `nil` without such a sink.
  func witness(of route: String, port: String) -> (sink: String, ends: Set<String>)? {
    guard let node = graph.nodes.firstIndex(where: { $0.id == route }),
      let edge = graph.outgoing[node].first(where: { graph.edges[$0].fromPort == port }),
      let sink = graph.nodes.indices.first(where: { sink in
        graph.role(sink) == .sink && edges(before: sink).contains(edge)
          && edges(before: sink, without: edge).allSatisfy {
            graph.role(graph.senders[$0]) != .source
          }
      })
    else { return nil }
    let ends = edges(before: node).map { graph.nodes[graph.senders[$0]].id }
    return (graph.nodes[sink].id, Set(ends + [route]))
  }

  // MARK: Where frames wait

  private func isSlow(_ index: Int, _ anyCost: Bool) -> Bool {
    let node = graph.nodes[index]
    switch graph.role(index) {
    // A frame waits for its partner.
    case .join: return true
    case .pure, .stateful:
      let mates = graph.nodes.filter { $0.executor != nil && $0.executor == node.executor }
      return anyCost || ([node] + mates).contains { $0.cost.map(Self.takesTime) ?? false }
        || node.pool.flatMap { pools[$0] }?.policy == .block
    default: return false
    }
  }

  private static func takesTime(_ cost: Cost) -> Bool {
    switch cost {
    case .fixed(let time): time > .zero
    case .uniform(_, let most): most > .zero
    case .quantiles(_, let p99): p99 > .zero
    }
  }

  /// Whether an edge downstream can keep the node's output.
  private func isBlocked(_ node: Int) -> Bool {
    graph.role(node) != .sink
      && graph.outgoing[node].contains {
        graph.edges[$0].policy == .block && holds[graph.receivers[$0]]
      }
  }

  /// Whether frames end at an edge: its queue can be full, and its policy does not block.
  private func drops(_ edge: Int) -> Bool {
    graph.edges[edge].policy != .block && holds[graph.receivers[edge]]
  }

  // MARK: Branches

  private func texts(of node: Int) -> [String] {
    var texts: [String] = []
    let policies = graph.incoming[node].filter(drops).map { graph.edges[$0].policy }
    if policies.contains(where: { $0 != .replace }) { texts.append("drop reason=queue") }
    if policies.contains(.replace) { texts.append("supersede") }
    texts += poolTexts(node)
    switch graph.role(node) {
    case .source: texts += isBlocked(node) ? ["lost reason=queue"] : []
    case .pure, .stateful: texts += serviceTexts(node)
    case .throttle: texts += throttleTexts(node)
    case .sample: texts.append("thin")
    case .route: texts += (ports[graph.nodes[node].id] ?? []).map { "port \($0)" }
    case .join: texts += joinTexts(node)
    case .latest:
      texts += graph.nodes[node].stage.inputPorts.dropFirst().flatMap {
        ["latest \($0)", "latest \($0)=-"]
      }
    case .fork: texts += ["fanout items>0", "fanout items=0"]
    case .gather: texts += ["join failed=0"] + (hasFailingItems(node) ? ["join failed>0"] : [])
    case .sink:
      guard isTimed, graph.nodes[node].stage.screen != nil else { break }
      texts += ["vsync", "vsync repeats>0", "vsync unseen>0"]
    }
    return texts
  }

  private func poolTexts(_ node: Int) -> [String] {
    guard isTimed, let id = graph.nodes[node].pool, let pool = pools[id] else { return [] }
    var texts: [String] = []
    switch pool.policy {
    case .drop: texts.append("drop reason=pool")
    case .fail: texts.append(DecisionLabel.emptyPool)
    // A stage waits without a line.
    case .block where graph.role(node) == .source:
      if pool.wait != nil { texts += ["wait reason=pool", "waited"] }
      texts.append("lost reason=pool")
      if pool.wait != nil {
        texts += (pool.driverFrames > 0 ? ["wait reason=turn"] : []) + ["lost reason=wait"]
      }
    case .block: break
    }
    guard let sizing = pool.adaptive, poolNames[id] == node else { return texts }
    // Only a live run makes all buffers again (`recreate`).
    let reasons = PoolSizing.Policy.allCases.filter {
      !sizing.off.contains($0) && $0 != .hysteresis && $0 != .recreate
    }
    texts += reasons.map { "resize pool=\(id) reason=\($0.rawValue)" }
    return texts + (reasons.contains(.breaker) ? ["breaker pool=\(id)"] : [])
  }

  private func serviceTexts(_ index: Int) -> [String] {
    let node = graph.nodes[index]
    let fail = node.scope == nil ? "fail" : "itemFail"
    return (canFail(index) ? [fail] : []) + (hasTimeout(index) ? ["timeout", "late"] : [])
      + (node.fallback != nil && (canFail(index) || hasTimeout(index)) ? ["fallback"] : [])
  }

  private func canFail(_ index: Int) -> Bool {
    let stage = graph.nodes[index].stage
    return stage.signature.canFail || !stage.sensorReads.isEmpty
  }

  private func hasTimeout(_ node: Int) -> Bool { isTimed && graph.nodes[node].timeout != nil }

  private func throttleTexts(_ node: Int) -> [String] {
    guard case .throttle(let policy) = graph.nodes[node].stage.body else { return [] }
    let rules = policy.rules.map(\.fps).filter { policy.fps == 0 || $0 < policy.fps }
    let rates = isTimed && !rules.isEmpty ? [policy.fps] + rules : []
    var texts = policy.fps > 0 || !rates.isEmpty ? ["thin"] : []
    for rate in rates {
      let interval = ThrottleStateMachine.intervalNanoseconds(framesPerSecond: rate)
      let text = "throttle interval=\(interval)"
      if !texts.contains(text) { texts.append(text) }
    }
    return texts
  }

  private func joinTexts(_ node: Int) -> [String] {
    guard case .join(let mode) = graph.nodes[node].stage.body else { return [] }
    let count = graph.nodes[node].stage.inputPorts.count
    let timeout = hasTimeout(node) ? ["timeout", "late"] : []
    guard mode == .any else {
      return ["join parts=\(count)"] + timeout + (hasTimeout(node) ? ["drop reason=timeout"] : [])
        + (partnersCanMiss(node, failures: false) ? ["drop reason=partnerMissing"] : [])
    }
    // After a route, a frame arrives on the ports that its branch leads to.
    let isPartial = hasTimeout(node) || partnersCanMiss(node, failures: true)
    return (isPartial ? (1...count).reversed() : [count]).map { "join parts=\($0)" } + timeout
  }

  // MARK: Partners

  /// Whether a frame can end on the way to one port of a join and arrive at another.
  private func partnersCanMiss(_ node: Int, failures: Bool) -> Bool {
    let ends = graph.incoming[node].map { edge in
      let before = [edge] + edges(before: graph.senders[edge])
      return Set(before.filter { endsFrames($0, failures: failures) })
    }
    return ends.contains { $0 != ends[0] }
  }

  private func edges(before node: Int, without absent: Int? = nil) -> [Int] {
    var found: [Int] = []
    var seen = Set([absent].compactMap(\.self))
    var open = [node]
    // Ends: each edge is visited once.
    while let next = open.popLast() {
      for edge in graph.incoming[next] where seen.insert(edge).inserted {
        found.append(edge)
        open.append(graph.senders[edge])
      }
    }
    return found
  }

  /// Whether a frame can end at the edge or at its sender.
  private func endsFrames(_ edge: Int, failures: Bool) -> Bool {
    let sender = graph.senders[edge]
    if drops(edge) || graph.role(sender) == .route || graph.role(sender) == .sample { return true }
    // All ports get the fate of a frame that ends at its source.
    if graph.role(sender) == .source { return false }
    if graph.role(sender) == .throttle { return throttleTexts(sender).contains("thin") }
    if failures, canFail(sender) || hasTimeout(sender) { return true }
    return poolTexts(sender).contains { $0.hasPrefix("drop") }
      || graph.role(sender) == .join && joinTexts(sender).contains { $0.hasPrefix("drop") }
  }

  private func hasFailingItems(_ gather: Int) -> Bool {
    let scope = graph.nodes[gather].scope
    return graph.nodes.indices.contains { node in
      graph.nodes[node].scope == scope && node != gather
        && (canFail(node) || hasTimeout(node)
          || poolTexts(node).contains { !$0.hasPrefix("resize") && !$0.hasPrefix("breaker") })
    }
  }
}
