import RetakeCore
import RetakeGraph

// MARK: - Nodes and edges

extension CaseDrawing {
  mutating func newID() -> String { ids.removeLast() }

  /// Adds a node with one input.
  @discardableResult
  mutating func add(_ role: ModelCase.Role, behind end: End) -> String {
    let id = newID()
    var node = ModelCase.Node(id: id, role: role)
    if case .stage = role { node.pool = pool(chance: 35) }
    example.nodes.append(node)
    connect(end, to: id)
    return id
  }

  mutating func connect(_ end: End, to id: String, port: String? = nil) {
    let policy = chance(30) ? .block : random.pick(EdgePolicy.allCases)
    example.edges.append(
      PipelineEdge(
        from: end.node, to: id, fromPort: end.port, toPort: port,
        capacity: policy == .replace ? 1 : random.pick(1...5), policy: policy))
  }

  mutating func pool(chance percent: Int) -> String? {
    guard !example.pools.isEmpty, chance(percent) else { return nil }
    return random.pick(example.pools).id
  }

  mutating func holdTicks() -> Int {
    shape != .line && chance(30) ? random.pick(1...6) : 0
  }
}

// MARK: - The device

extension CaseDrawing {
  /// Often with rules, and then for a device that becomes hot and cool.
  mutating func throttle() -> ModelCase.Role {
    guard chance(50) else { return .throttle(ticks: random.pick(1...8), rules: []) }
    if example.changes.isEmpty {
      example.changes = (0..<random.pick(1...5)).map { _ in
        ModelCase.Change(
          ticks: random.pick(-5...30), event: .thermal(random.pick(ThermalState.allCases)))
      }.sorted { $0.ticks < $1.ticks }
    }
    let rules = (0..<random.pick(1...2)).map { _ in
      ModelCase.Rule(heat: random.pick(ThermalState.allCases), ticks: random.pick(1...8))
    }
    return .throttle(ticks: random.pick(0...4), rules: rules)
  }
}

extension CaseDrawing {
  /// Events of the run besides the heat that throttles react to.
  mutating func drawChanges() {
    let changes = example.changes
    example.changes = []
    for change in changes {
      if chance(40) {
        example.changes.append(change)
      } else {
        example.overrides.append(.device(change))
      }
    }
    guard chance(40) else { return }
    for _ in 0..<random.pick(1...4) { example.overrides.append(.swap(swap())) }
    example.overrides.shuffle(using: &random)
  }

  private mutating func swap() -> ModelCase.Swap {
    let flat = FlatCase(example).nodes
    let stages = flat.filter { if case .own(.stage) = $0.role { true } else { false } }
    let isAnything = stages.isEmpty || chance(4)
    let node = random.pick(isAnything ? flat : stages)
    var service = plainService(failing: 12)
    if case .own(.stage(let old)) = node.role {
      service.makes = chance(90) ? old.makes : random.pick([.scalars, .detections, .classes])
      if service.makes == .detections { service.counts = counts() }
      // A stage with state works on one frame at a time.
      if old.concurrency > 1 { service.remembers = false }
    }
    let frames = random.pick(example.sources).frames
    let arrival = FrameID(track: frames.track, sequence: random.pick(0...frames.times.count))
    return ModelCase.Swap(
      moment: chance(50) ? .arrival(arrival) : .ticks(random.pick(-5...30)), node: node.id,
      service: service, prepareTicks: random.pick(0...4))
  }
}

// MARK: - Stages

extension CaseDrawing {
  mutating func service() -> ModelCase.Service {
    var service = plainService(failing: 12)
    guard shape != .line else { return service }
    service.hasFallback = chance(30)
    if chance(12) {
      service.makes = .detections
      service.counts = counts()
    }
    return service
  }

  /// The common part of stages of a line, of a graph and of a forEach.
  private mutating func plainService(failing percent: Int) -> ModelCase.Service {
    var service = ModelCase.Service(cost: cost())
    service.remembers = chance(40)
    service.executor = example.servers.isEmpty || chance(30) ? nil : random.pick(example.servers).id
    if shape != .line { drawExtras(of: &service) }
    guard chance(isFatal ? 70 : 30) || shape != .line && chance(20) else { return service }
    for sequence in 0..<sequencesMax where chance(percent) {
      service.failures[.init(sequence: sequence)] = failure()
    }
    return service
  }

  private mutating func drawExtras(of service: inout ModelCase.Service) {
    if !service.remembers, chance(45) { service.concurrency = random.pick(2...3) }
    if service.executor == nil { service.isPinned = chance(20) }
    if chance(20) { service.timeoutTicks = random.pick(1...5) }
    service.keepsInput = chance(25)
  }

  private mutating func failure() -> TimePlaneModel.Failure {
    isFatal && chance(30) ? .unrecoverable : .recoverable
  }

  var sequencesMax: Int { example.sources.map(\.frames.times.count).max() ?? 0 }

  mutating func counts() -> [Int] {
    let most = random.pick([1, 2, 3, ModelCase.itemsMax])
    return (0..<random.pick(1...6)).map { _ in random.pick(0...most) }
  }

  private mutating func cost() -> Cost? {
    let tick = example.tick
    let low = Int64(random.pick(0...6)) * tick
    switch random.pick(0...9) {
    case 0: return nil
    case 1...3: return .fixed(.zero)
    case 4, 5:
      return .uniform(.nanoseconds(low), .nanoseconds(low + Int64(random.pick(0...3)) * tick))
    default: return .fixed(.nanoseconds(low))
    }
  }
}

extension CaseDrawing {
  /// One to three stages for the items of a forEach.
  mutating func body() -> [ModelCase.Node] {
    let count = random.pick(1...3)
    return ["a", "b", "c"].shuffled(using: &random).prefix(count).enumerated().map { index, id in
      var service = plainService(failing: 0)
      for sequence in 0..<sequencesMax {
        for item in 0..<ModelCase.itemsMax where chance(isFatal ? 20 : 6) {
          service.failures[.init(sequence: sequence, item: item)] = failure()
        }
      }
      if index == count - 1, chance(40) { service.makes = .classes }
      let pool = pool(chance: 50)
      let drops = example.pools.contains { $0.id == pool && $0.policy == .drop }
      return ModelCase.Node(id: id, role: .stage(service), pool: drops ? nil : pool)
    }
  }
}
