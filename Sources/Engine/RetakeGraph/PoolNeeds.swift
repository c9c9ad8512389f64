/// The largest number of a pool's buffers that are held at once while a single frame passes through
/// an otherwise empty pipeline. Fewer can never be enough. Buffers of the newest value of a latest
/// join, of the last value of a fallback, and of the image that a screen shows are only returned
/// when the next one replaces it.
package struct PoolNeeds {
  struct Need {
    var count: Int
    /// The node at which this number of buffers is held.
    var node: Int
    /// The nodes whose frames use the buffers. A node whose last frame is kept may occur twice.
    var holders: [Int]
  }

  /// By pool.
  private(set) var needs: [Need?]
  private let graph: GraphIndex
  /// The nodes that lease. A member of a lease set is an index into this array.
  private let leasing: [Int]
  /// By node.
  private var members: [Int?]
  /// The pool of each member.
  private let poolOfMember: [Int]
  /// The leases that the output of each node holds.
  private var held: [BitSet]
  private var kept: BitSet
  /// The node whose work produces a node's output. Nodes without a server pass their input on at
  /// once.
  private var makers: [Int]

  package init(graph: GraphIndex, order: [Int], pools: [PipelinePool]) {
    let indexes = Dictionary(
      zip(pools.map(\.id), pools.indices), uniquingKeysWith: { first, _ in first })
    let owned = graph.nodes.map { $0.pool.flatMap { indexes[$0] } }
    leasing = graph.nodes.indices.filter { owned[$0] != nil }
    poolOfMember = leasing.compactMap { owned[$0] }
    members = Array(repeating: nil, count: graph.nodes.count)
    for (member, node) in leasing.enumerated() { members[node] = member }
    self.graph = graph
    held = Array(repeating: BitSet(count: leasing.count), count: graph.nodes.count)
    kept = BitSet(count: leasing.count)
    makers = Array(graph.nodes.indices)
    needs = Array(repeating: nil, count: pools.count)
    guard !leasing.isEmpty else { return }
    for node in order {
      held[node] = output(of: node)
      guard [.throttle, .sample, .route].contains(graph.role(node)) else { continue }
      makers[node] = graph.senderByPort(to: node).first.flatMap { $0 }.map { makers[$0] } ?? node
    }
    // Before the nodes are visited, because kept values count at each node.
    keepLastValues()
    for node in order { note(node) }
  }

  private func inputs(of node: Int) -> [BitSet] {
    graph.senderByPort(to: node).compactMap { $0.map { held[$0] } }
  }

  private func union(_ sets: [BitSet]) -> BitSet {
    sets.reduce(into: BitSet(count: leasing.count)) { $0.formUnion($1) }
  }

  /// The leases that a node's output holds.
  private func output(of node: Int) -> BitSet {
    let stage = graph.nodes[node].stage
    var result: BitSet
    switch stage.body {
    case .pure, .stateful:
      // By `pool-lease`, only stages that keep their input pass on the leases of the input.
      result = union(stage.signature.keepsInput ? inputs(of: node) : [])
    // It continues with any value that arrives, so no lease is certain to be held.
    case .join(.any): result = union([])
    // The values of the other ports are counted in `kept`: they are held even between frames.
    case .latest: result = union(Array(inputs(of: node).prefix(1)))
    case .source, .throttle, .sample, .route, .join, .fork, .gather, .sink:
      result = union(inputs(of: node))
    }
    if let member = members[node] { result.insert(member) }
    return result
  }

  private mutating func keepLastValues() {
    for node in graph.nodes.indices {
      if graph.role(node) == .latest {
        for input in inputs(of: node).dropFirst() { kept.formUnion(input) }
      }
      if graph.nodes[node].fallback != nil { kept.formUnion(held[node]) }
      // By `screen-refresh` an image stays visible until the next one is shown.
      if graph.nodes[node].stage.screen != nil { kept.formUnion(held[node]) }
    }
  }

  private mutating func note(_ node: Int) {
    if let own = members[node] {
      // By `pool-lease` a stage leases its buffer when its service begins, and still holds its
      // input.
      let moment = Moment(others: union(inputs(of: node) + [kept]), own: own)
      raise(poolOfMember[own], at: node, moment, counts(in: moment))
    }
    if case .join(.all) = graph.nodes[node].stage.body { noteJoin(node) }
  }
}

extension PoolNeeds {
  /// How many items of a frame can be in a forEach if each of them keeps buffers until the last is
  /// done.
  package struct ItemLimit {
    package var pool: Int
    package var gather: Int
    package var itemsMax: Int
    /// Buffers for each further item.
    package var perItem: Int
  }

  /// The limits of each forEach and pool that has one.
  package func itemLimits(_ pools: [PipelinePool]) -> [ItemLimit] {
    graph.nodes.indices.filter { graph.role($0) == .gather }.flatMap { gather -> [ItemLimit] in
      let scope = graph.nodes[gather].scope
      let inside = leasing.indices.filter { graph.nodes[leasing[$0]].scope == scope }
      var perItem = Array(repeating: 0, count: pools.count)
      held[gather].forEach { if inside.contains($0) { perItem[poolOfMember[$0]] += 1 } }
      return pools.indices.compactMap { pool in
        guard perItem[pool] > 0 else { return nil }
        let last = inside.filter { poolOfMember[$0] == pool }.map { member in
          counts(in: Moment(others: union(inputs(of: leasing[member])), own: member))[pool]
        }.max()
        // The last item needs its whole peak. Each earlier item only keeps the leases of its
        // output.
        let room = pools[pool].fewest - (last ?? 0)
        return ItemLimit(
          pool: pool, gather: gather, itemsMax: 1 + max(0, room) / perItem[pool],
          perItem: perItem[pool])
      }
    }
  }

  /// The leases that are held while a node works: the leases of other nodes, and the lease of its
  /// new frame.
  private struct Moment {
    var others: BitSet
    var own: Int?
  }

  /// By pool.
  private func counts(in moment: Moment) -> [Int] {
    var counts = Array(repeating: 0, count: needs.count)
    moment.others.forEach { counts[poolOfMember[$0]] += 1 }
    if let own = moment.own { counts[poolOfMember[own]] += 1 }
    return counts
  }

  /// When the last part arrives, the other parts are waiting. Whichever part is the last one, at
  /// least this number of buffers is held when the stage that produced it finishes.
  private mutating func noteJoin(_ node: Int) {
    let senders = graph.senderByPort(to: node).compactMap { $0 }
    guard senders.contains(where: { !held[$0].isEmpty }) else { return }
    let moments = senders.indices.map { moment(ofLast: $0, among: senders) }
    let counts = moments.map { self.counts(in: $0) }
    for pool in needs.indices {
      // Which part is last depends on the costs, so only the smallest of these numbers is certain.
      guard let least = counts.indices.min(by: { counts[$0][pool] < counts[$1][pool] }) else {
        continue
      }
      raise(pool, at: node, moments[least], counts[least])
    }
  }

  private func moment(ofLast port: Int, among senders: [Int]) -> Moment {
    let maker = makers[senders[port]]
    var others = union(senders.indices.filter { $0 != port }.map { held[senders[$0]] })
    // The input is held until the service ends.
    if graph.role(maker).isServed { others.formUnion(union(inputs(of: maker))) }
    // Another branch may hold this buffer, too, and it must not count twice.
    if let own = members[maker] { others.remove(own) }
    others.formUnion(kept)
    return Moment(others: others, own: members[maker])
  }

  private mutating func raise(_ pool: Int, at node: Int, _ moment: Moment, _ counts: [Int]) {
    guard counts[pool] > needs[pool]?.count ?? 0 else { return }
    var holders: [Int] = []
    moment.others.forEach { if poolOfMember[$0] == pool { holders.append(leasing[$0]) } }
    if let own = moment.own, poolOfMember[own] == pool { holders.append(leasing[own]) }
    needs[pool] = Need(count: counts[pool], node: node, holders: holders)
  }
}
