import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTimePlane

extension ModelCase {
  /// The case in the form of the model.
  var model: TimePlaneModel {
    var flat = FlatCase(self)
    let order = flat.ordered()
    let indexes = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1.id, $0) })
    var servers = servers.map(\.count)
    let nodes = order.map { node in
      TimePlaneModel.Node(
        id: node.id, rank: flat.ranks[node.id] ?? 0,
        role: modelRole(node, flat, indexes, &servers),
        pool: node.pool.flatMap { pool in pools.firstIndex { $0.id == pool } })
    }
    let model = TimePlaneModel(
      nodes: nodes, edges: flat.edges.map { modelEdge($0, flat, indexes) }, servers: servers,
      pools: pools.map {
        var pool = TimePlaneModel.Pool(
          id: $0.id, capacity: $0.capacity, policy: .init($0.policy),
          sizing: $0.adaptive.map { .init($0) })
        pool.wait = $0.wait?.nanoseconds
        pool.driverFrames = $0.driverFrames
        return pool
      },
      isUnbounded: mode == .everyFrame)
    addArrivals(to: model, indexes)
    for (ordinal, change) in (changes.map { Override.device($0) } + overrides).enumerated() {
      switch change {
      case .device(let change):
        add(change.event, at: Int64(change.ticks) * tick, ordinal, to: model)
      case .swap(let swap):
        guard let time = time(of: swap) else { continue }
        model.addSwap(
          indexes[swap.node] ?? -1, time: time,
          .init(
            ordinal: ordinal, preparing: Int64(swap.prepareTicks) * tick,
            stage: modelStage(swap.node, swap.service, executor: -1),
            refusal: refusal(of: swap, flat)))
      }
    }
    return model
  }

  private func add(
    _ event: DeviceEvent, at time: Int64, _ ordinal: Int, to model: TimePlaneModel
  ) {
    switch event {
    case .thermal(let state): model.addHeat(state.level, time: time, ordinal: ordinal)
    case .memory(let state): model.addMemory(state.level, time: time, ordinal: ordinal)
    case .temperature, .battery, .orientation:
      preconditionFailure("no case has such an event")
    }
  }

  /// `nil` for a swap that waits for a frame that never arrives.
  private func time(of swap: Swap) -> Int64? {
    switch swap.moment {
    case .ticks(let ticks): return Int64(ticks) * tick
    case .arrival(let id):
      let source = sources.first { $0.frames.track == id.track }
      return source.flatMap { arrivals($0.frames).first { $0.sequence == id.sequence }?.time }
    }
  }

  private func refusal(of swap: Swap, _ flat: FlatCase) -> String? {
    guard case .own(.stage(let old)) = flat.nodes.first(where: { $0.id == swap.node })?.role else {
      return Self.noStageCode
    }
    return old.makes == swap.service.makes ? nil : Self.outputCode
  }

  private func modelEdge(
    _ edge: PipelineEdge, _ flat: FlatCase, _ indexes: [String: Int]
  ) -> TimePlaneModel.Edge {
    TimePlaneModel.Edge(
      from: indexes[edge.from] ?? -1, to: indexes[edge.to] ?? -1,
      port: edge.toPort.flatMap { flat.inputs(of: edge.to).firstIndex(of: $0) } ?? 0,
      fromPort: edge.fromPort.flatMap { flat.outputs(of: edge.from).firstIndex(of: $0) } ?? 0,
      capacity: mode == .everyFrame ? nil : edge.capacity, policy: .init(edge.policy))
  }

  private func modelRole(
    _ node: FlatCase.Node, _ flat: FlatCase, _ indexes: [String: Int], _ servers: inout [Int]
  ) -> TimePlaneModel.Role {
    switch node.role {
    case .gather(let classifies): return .gather(isClassified: classifies)
    case .own(.forEach): return .fork(gather: indexes["\(node.id)/join"] ?? -1)
    case .own(.source): return .source
    case .own(.stage(let service)):
      return .stage(modelStage(node.id, service, executor: executor(service, &servers)))
    case .own(.throttle(let ticks, let rules)):
      return .throttle(
        [.init(interval: Int64(ticks) * tick)]
          + rules.map { .init(heat: $0.heat.level, interval: Int64($0.ticks) * tick) })
    case .own(.sample(let count)): return .sample(count)
    case .own(.route(let ports, let choices)): return .route(ports: ports, choices: choices)
    case .own(.join(_, let mode, let ticks)):
      return .join(isAny: mode == .any, timeout: ticks.map { Int64($0) * tick })
    case .own(.latest(let ports)):
      let tracks = ports.map { flat.source(of: node.id, port: $0) }
      return .latest(
        ports: zip(ports, tracks).map { .init(name: $0, isAcrossTracks: $1 != tracks[0]) })
    case .own(.sink(let ticks)): return .sink(hold: Int64(ticks) * tick)
    case .own(.screen(let millihertz)):
      return mode == .everyFrame ? .sink(hold: 0) : .screen(millihertz: Int64(millihertz))
    }
  }

  /// Without a shared executor, a stage has its own, pinned or not, with one server per slot.
  private func executor(_ service: Service, _ servers: inout [Int]) -> Int {
    if let index = self.servers.firstIndex(where: { $0.id == service.executor }) { return index }
    servers.append(service.concurrency)
    return servers.count - 1
  }

  private func modelStage(_ id: String, _ service: Service, executor: Int) -> TimePlaneModel.Stage {
    var stage = TimePlaneModel.Stage(costs: costs(service.cost, of: id), executor: executor)
    stage.failures = service.failures
    stage.makes = service.makes
    stage.counts = service.counts
    stage.concurrency = service.concurrency
    stage.timeout = service.timeoutTicks.map { Int64($0) * tick }
    stage.hasFallback = service.hasFallback
    stage.keepsInput = service.keepsInput
    if let batch = service.batch {
      stage.batch = batch.max
      stage.batchWait = Int64(batch.waitTicks) * tick
      stage.costPerFrame = mode == .everyFrame ? 0 : Int64(batch.ticksPerFrame) * tick
    }
    return stage
  }

  private func costs(_ cost: Cost?, of id: String) -> [TimePlaneModel.FrameItem: Int64] {
    guard mode != .everyFrame else { return [:] }
    let model = CostModel.declared(seed: seed)
    let hash = Draw.hash(ofNode: id)
    var costs: [TimePlaneModel.FrameItem: Int64] = [:]
    for sequence in 0..<(sources.map(\.frames.times.count).max() ?? 0) {
      for item in -1..<Self.itemsMax {
        costs[.init(sequence: sequence, item: item)] = model.nanoseconds(
          of: cost, nodeHash: hash, sequence: sequence, item: item)
      }
    }
    return costs
  }

  private func addArrivals(to model: TimePlaneModel, _ indexes: [String: Int]) {
    for (id, frames) in sources {
      for (sequence, time) in arrivals(frames) {
        model.addArrival(
          indexes[id] ?? -1, track: frames.track, sequence: sequence, time: time,
          damage: frames.damaged[sequence])
      }
    }
  }

  /// The frames with pixels, in virtual time.
  private func arrivals(_ frames: TinyFrames) -> [(sequence: Int, time: Int64)] {
    let times = mode == .everyFrame ? frames.times : frames.arrivals ?? frames.times
    return times.indices.filter { !frames.shed.contains($0) }.map { ($0, times[$0] - origin) }
  }
}

/// A case in which every forEach is expanded into its nodes.
struct FlatCase {
  enum Role {
    case own(ModelCase.Role)
    case gather(classifies: Bool)
  }

  struct Node {
    var id: String
    var role: Role
    var pool: String?
  }

  private(set) var nodes: [Node] = []
  private(set) var edges: [PipelineEdge] = []
  private(set) var ranks: [String: Int] = [:]

  init(_ example: ModelCase) {
    var outputs: [String: String] = [:]
    for node in example.nodes {
      nodes.append(Node(id: node.id, role: .own(node.role), pool: node.pool))
      guard case .forEach(let body, let capacities) = node.role else { continue }
      outputs[node.id] = "\(node.id)/join"
      unfold(body, capacities, of: node.id)
    }
    for edge in example.edges {
      var own = edge
      own.from = outputs[edge.from] ?? edge.from
      edges.append(own)
    }
  }

  private mutating func unfold(_ body: [ModelCase.Node], _ capacities: [Int], of id: String) {
    var last = id
    var classifies = false
    for (index, inner) in body.enumerated() {
      let own = "\(id)/\(inner.id)"
      nodes.append(Node(id: own, role: .own(inner.role), pool: inner.pool))
      var capacity = index == 0 ? 3 : capacities[index - 1]
      if index == 0, case .stage(let service) = inner.role {
        capacity = max(capacity, service.batch?.max ?? 0)
      }
      edges.append(PipelineEdge(from: last, to: own, capacity: capacity))
      last = own
      if case .stage(let service) = inner.role { classifies = service.makes == .classes }
    }
    nodes.append(Node(id: "\(id)/join", role: .gather(classifies: classifies)))
    edges.append(PipelineEdge(from: last, to: "\(id)/join", capacity: 3))
  }

  /// By rank, then by the bytes of the id.
  mutating func ordered() -> [Node] {
    for node in nodes { ranks[node.id] = 0 }
    // Bounded: no path is longer than there are nodes.
    for _ in nodes {
      for edge in edges {
        ranks[edge.to] = max(ranks[edge.to] ?? 0, (ranks[edge.from] ?? 0) + 1)
      }
    }
    return nodes.sorted {
      let (left, right) = (ranks[$0.id] ?? 0, ranks[$1.id] ?? 0)
      return left != right ? left < right : $0.id.utf8.lexicographicallyPrecedes($1.id.utf8)
    }
  }

  func inputs(of id: String) -> [String] {
    switch nodes.first(where: { $0.id == id })?.role {
    case .own(.join(let ports, _, _)), .own(.latest(let ports)): ports
    default: []
    }
  }

  func outputs(of id: String) -> [String] {
    guard case .own(.route(let ports, _)) = nodes.first(where: { $0.id == id })?.role else {
      return []
    }
    return ports
  }

  /// The source of the frames at a port, by default at a node's first port.
  func source(of id: String, port: String? = nil) -> String {
    let port = port ?? inputs(of: id).first
    guard let edge = edges.first(where: { $0.to == id && $0.toPort == port }) else { return id }
    return source(of: edge.from)
  }
}

extension ThermalState {
  fileprivate var level: Int {
    switch self {
    case .nominal: 0
    case .fair: 1
    case .serious: 2
    case .critical: 3
    }
  }
}

extension MemoryPressure {
  fileprivate var level: Int {
    switch self {
    case .normal: 0
    case .warning: 1
    case .critical: 2
    }
  }
}

extension TimePlaneModel.Sizing {
  init(_ sizing: PoolSizing) {
    (min, max) = (sizing.min, sizing.max)
    window = sizing.windowNanoseconds
    isAR1 = sizing.predictor == .ar1
    isTrend = sizing.predictor == .trend
    alpha = Int64(sizing.alphaPermille)
    (expandAbove, expandAfter) = (sizing.expandAbove, sizing.expandAfter)
    (shrinkBelow, shrinkAfter) = (sizing.shrinkBelow, sizing.shrinkAfter)
    (thermalSize, thermalHold) = (sizing.thermalSize, sizing.thermalHoldNanoseconds)
    memorySize = sizing.memorySize
    (breakerAbove, breakerAfter) = (sizing.breakerAbove, sizing.breakerNanoseconds)
    breakerSize = sizing.breakerSize
    resizeTime = sizing.resizeNanoseconds
    off = Set(sizing.off.compactMap(Part.init))
  }
}

extension TimePlaneModel.Sizing.Part {
  /// `nil` for a part that a replay never needs: in a replay every buffer can be made.
  fileprivate init?(_ policy: PoolSizing.Policy) {
    switch policy {
    case .expand: self = .expand
    case .shrink: self = .shrink
    case .hysteresis: self = .hysteresis
    case .thermal: self = .thermal
    case .memory: self = .memory
    case .breaker: self = .breaker
    case .recreate: return nil
    }
  }
}

extension TimePlaneModel.Policy {
  init(_ policy: EdgePolicy) {
    switch policy {
    case .block: self = .block
    case .dropNewest: self = .dropNewest
    case .dropOldest: self = .dropOldest
    case .replace: self = .replace
    }
  }
}

extension TimePlaneModel.PoolPolicy {
  init(_ policy: PipelinePool.Policy) {
    switch policy {
    case .block: self = .block
    case .drop: self = .drop
    case .fail: self = .fail
    }
  }
}
