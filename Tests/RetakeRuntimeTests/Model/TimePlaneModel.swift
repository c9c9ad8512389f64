/// A second implementation of the time plane's rules, written only from their description. It is
/// slow and simple, and shares no code with the engine except the numbers that a case draws for its
/// costs.
///
/// Nodes are sorted by rank and id: the index of a node is its position in the keys.
final class TimePlaneModel {
  var nodes: [Node]
  var edges: [Edge]
  /// Free servers, by executor.
  var servers: [Int]
  var pools: [Pool]
  /// Whether pools, timeouts and policies of the device are off.
  let isUnbounded: Bool
  private(set) var lines: [String] = []
  /// Frames that were not lost at their source, by track.
  var captured: [Int: Int] = [:]
  /// Sorted by key.
  private(set) var agenda: [(key: Key, what: Happening)] = []
  private(set) var current = Key(time: .min, band: 0, phase: .arrival, node: -1)
  private var leaseCount = 0
  /// The heat of the device; −1 if it was never reported.
  var heat = -1
  /// The time of the last entry other than the end of a window that changes no pool.
  var lastChange = Int64.min / 2
  private var isHalted = false

  init(
    nodes: [Node], edges: [Edge], servers: [Int], pools: [Pool] = [], isUnbounded: Bool = false
  ) {
    self.nodes = nodes
    self.edges = edges
    self.servers = servers
    self.pools = pools
    self.isUnbounded = isUnbounded
    for (index, edge) in edges.enumerated() {
      self.nodes[edge.from].outs.append(index)
      self.nodes[edge.to].ins.append(index)
    }
    for node in nodes.indices {
      self.nodes[node].ins.sort { edges[$0].port < edges[$1].port }
    }
    for pool in pools.indices where isUnbounded || !nodes.contains(where: { $0.pool == pool }) {
      self.pools[pool].sizing = nil
    }
  }

  /// A frame that reaches a source; `damage` is the code of its failure there.
  func addArrival(_ node: Int, track: Int, sequence: Int, time: Int64, damage: String? = nil) {
    var frame = Token(track: track, sequence: sequence, arrival: time)
    frame.value = .frame(sequence)
    plan(
      Key(time: time, band: 2, phase: .arrival, node: node, track: track, sequence: sequence),
      .arrival(frame, damage: damage))
  }

  /// Runs to the end. The last line is just `stuck` if frames are left that can never move.
  func run() -> [String] {
    while !isHalted, !agenda.isEmpty {
      if isAtRest { break }
      let event = agenda.removeFirst()
      precondition(current < event.key, "keys strictly increase")
      current = event.key
      if case .windowEnd = event.what {} else { lastChange = current.time }
      handle(event.what, at: event.key.node)
      planDispatches()
      planAsks()
    }
    if !isHalted, hasFramesLeft { lines.append("stuck") }
    return lines
  }

  func say(_ node: Int, _ token: Token, _ words: String) {
    lines.append("@\(current.time) \(nodes[node].id) \(token.name) \(words)")
  }

  func say(_ node: Int, _ words: String) {
    lines.append("@\(current.time) \(nodes[node].id) - \(words)")
  }

  func newLease(of pool: Int) -> Set<Int> {
    leaseCount += 1
    return [leaseCount * pools.count + pool]
  }

  // MARK: - Events

  func plan(_ key: Key, _ what: Happening) {
    precondition(current < key, "nothing is planned for what has been")
    agenda.insert((key, what), at: agenda.firstIndex { key < $0.key } ?? agenda.count)
  }

  /// An event for the current instant keeps band and microstep if its key is larger; otherwise it
  /// uses the next microstep.
  func now(_ phase: Phase, _ node: Int, _ token: Token, port: Int = 0, _ what: Happening) {
    var key = Key(
      time: current.time, band: current.band, microstep: current.microstep, phase: phase,
      node: node, track: token.track, sequence: token.sequence, item: token.item, ordinal: port)
    if !(current < key) { key.microstep += 1 }
    plan(key, what)
  }

  /// An event after a delay belongs to the release band.
  func later(
    _ delay: Int64, _ phase: Phase, _ node: Int, _ token: Token, ordinal: Int = 0,
    _ what: Happening
  ) {
    plan(
      Key(
        time: current.time + delay, band: 1, phase: phase, node: node, track: token.track,
        sequence: token.sequence, item: token.item, ordinal: ordinal), what)
  }

  func isDispatchPlanned(_ executor: Int) -> Bool {
    agenda.contains {
      guard case .dispatch(executor) = $0.what else { return false }
      return $0.key.time == current.time
    }
  }

  private func handle(_ what: Happening, at node: Int) {
    switch what {
    case .arrival(let frame, let damage): arrive(frame, at: node, damage: damage)
    case .completion(let token): complete(token, at: node)
    case .holdEnds(let token): nodes[node].holds.removeAll { $0.order == token.order }
    case .timer(let token): timeOut(token, at: node)
    case .waited: endBatchWait(node)
    case .halt(let token, let code):
      say(node, token, "halt code=\(code)")
      isHalted = true
    case .delivery(let edge, let token):
      edges[edge].onTheWay.removeAll { $0.order == token.order }
      offer(token, on: edge)
    case .unblock(let edge): unblock(edge)
    case .tombstone(let token, let ending): bury(token, ending, at: node, port: current.ordinal)
    case .noItems(let token): gather(token, at: node)
    case .read: readLatest(node)
    case .dispatch(let executor): dispatch(executor)
    case .prepareSwap(let swapped, let swap): prepare(swap, at: swapped)
    case .swap(let swap): decide(swap, at: node)
    case .heat(let level): setHeat(level)
    case .rate: decideRate(node)
    case .memory(let level): setMemory(level)
    case .refresh: refresh(node)
    case .windowEnd(let pool): endWindow(of: pool)
    case .pressure(let pool, let wish): press(pool, wish)
    case .inForce(let pool, let size): putInForce(size, of: pool)
    case .ask: askAgain(node)
    case .limit(let sequence): endWait(node, sequence)
    }
  }
}

// MARK: - Pools

extension TimePlaneModel {
  /// Free buffers. The buffers in use are found by searching everywhere.
  func freeBuffers(_ pool: Int) -> Int {
    guard !isUnbounded else { return .max }
    return pools[pool].capacity - heldBuffers(pool)
  }

  func heldBuffers(_ pool: Int) -> Int { heldLeases.count { $0 % pools.count == pool } }

  private var heldLeases: Set<Int> {
    var held: Set<Int> = []
    for edge in edges {
      for token in edge.onTheWay + edge.waiting { held.formUnion(token.leases) }
      held.formUnion(edge.refused?.leases ?? [])
    }
    for node in nodes {
      for slot in node.concurrency {
        if slot.isBodyRunning { held.formUnion(slot.input.leases.union(slot.own)) }
        if case .finished(let output) = slot.state { held.formUnion(output.leases) }
      }
      var tokens = node.holds + node.cells.values.flatMap { $0 }
      tokens += node.joining.values.flatMap { $0.parts.values }
      tokens += node.gathering.values.flatMap { $0.items.values }
      tokens += [node.lastLeft, node.current, node.coming, node.visible].compactMap { $0 }
      for token in tokens { held.formUnion(token.leases) }
    }
    return held
  }

  /// Whether any frame or part of it has not ended.
  var hasFramesLeft: Bool {
    edges.contains { !$0.waiting.isEmpty || $0.refused != nil }
      || nodes.contains {
        !$0.concurrency.isEmpty || $0.current != nil || !$0.gathering.isEmpty
          || $0.joining.values.contains { !$0.parts.isEmpty }
      }
  }
}
