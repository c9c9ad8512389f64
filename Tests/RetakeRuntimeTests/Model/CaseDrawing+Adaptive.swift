import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTestSupport

// MARK: - Adaptive pools and screens

extension CaseDrawing {
  /// A window has at least 10 ms, and a pool changes its size once a second at most.
  static let longTicks: [Int64] = [
    10_000_000, 100_000_000, 250_000_000, 500_000_000, 1_000_000_000, 1_000_000_000,
  ]
  /// The time in which things happen in most cases, in ticks.
  private static let span = 60

  mutating func drawAdaptivePools() {
    example.pools = (0..<random.pick(1...2)).map { index in
      let sizing = chance(90) ? sizing() : nil
      let sizes = sizing.map { $0.min...$0.max } ?? 1...6
      return PipelinePool(
        id: "pool\(index)", capacity: random.pick(sizes),
        policy: random.pick([.block, .drop, .fail]),
        adaptive: sizing)
    }
  }

  private mutating func sizing() -> PoolSizing {
    let tick = example.tick
    var sizing = PoolSizing()
    sizing.min = random.pick([1, 2, 3, 3, 4, 4])
    sizing.max = sizing.min + random.pick(0...5)
    sizing.predictor = random.pick(PoolSizing.Predictor.allCases)
    sizing.alphaPermille = random.pick([100, 300, 500, 900, 1_000])
    sizing.windowNanoseconds = chance(15) ? tick * 3 / 2 : tick * Int64(random.pick([1, 1, 2, 3]))
    sizing.expandAbove = random.pick([1, 25, 50, 75, 99])
    sizing.expandAfter = random.pick(1...3)
    sizing.shrinkBelow = min(sizing.expandAbove, random.pick([1, 25, 50, 75, 99]))
    sizing.shrinkAfter = random.pick(1...4)
    sizing.thermalSize = random.pick([1, 2, 3, 3, 4, 5])
    sizing.thermalHoldNanoseconds = tick * Int64(random.pick(0...10))
    sizing.memorySize = random.pick([1, 2, 3, 3, 4, 5])
    sizing.breakerAbove = random.pick([0, 10, 25, 50, 90])
    sizing.breakerNanoseconds = sizing.windowNanoseconds * Int64(random.pick(2...8)) / 2
    sizing.breakerSize = sizing.max + random.pick(0...4)
    // Up to the time between two changes of size.
    sizing.resizeNanoseconds = min(tick * Int64(random.pick([0, 0, 1, 2])), 1_000_000_000)
    sizing.off = Set(PoolSizing.Policy.allCases.filter { _ in chance(20) })
    return sizing
  }

  /// Bursts of frames with pauses after them.
  mutating func waves(track: Int, most: Int) -> TinyFrames {
    guard chance(75) else { return frames(track: track, most: most) }
    var frames = TinyFrames(track: track, times: [])
    let (burst, gap, pause) = (random.pick(1...6), random.pick(0...1), random.pick(1...6))
    var time = Int64(random.pick(-5...5)) * example.tick
    for index in 0..<random.pick(most / 3...most) {
      frames.times.append(time)
      let ticks = (index + 1) % burst == 0 ? pause : gap
      time += Int64(chance(10) ? random.pick(0...3) : ticks) * example.tick
    }
    return frames
  }

  mutating func drawDevice() {
    let drawn = (0..<random.pick(0...6)).map { _ in
      let event: DeviceEvent =
        chance(60)
        ? .thermal(random.pick(ThermalState.allCases))
        : .memory(random.pick(MemoryPressure.allCases))
      return ModelCase.Change(ticks: random.pick(-5...Self.span), event: event)
    }
    example.changes = (example.changes + drawn).sorted { $0.ticks < $1.ticks }
  }

  /// The end of a path.
  mutating func last() -> ModelCase.Role {
    guard shape == .adaptive, chance(60) else { return .sink(holdTicks: holdTicks()) }
    // Most refreshes are at the times of other events.
    let aligned = 1_000_000_000_000 / Int(example.tick)
    let millihertz = chance(80) ? aligned / random.pick(1...4) : aligned * random.pick(3...40) / 17
    return .screen(millihertz: min(max(millihertz, 1), 1_000_000))
  }

  /// A line whose pool grows and shrinks in turns, until it may not change any more.
  mutating func swinging() -> ModelCase {
    example = ModelCase(seed: example.seed, mode: .simulate, tick: 1_000_000_000)
    var sizing = sizing()
    sizing.min = random.pick(1...2)
    sizing.max = random.pick(5...7)
    sizing.alphaPermille = 1_000
    sizing.windowNanoseconds = example.tick
    sizing.expandAbove = random.pick([40, 50])
    sizing.shrinkBelow = min(sizing.expandAbove, random.pick([30, 50]))
    (sizing.expandAfter, sizing.shrinkAfter) = (1, 1)
    sizing.breakerSize = 9
    sizing.off.subtract([.expand, .shrink])
    if chance(60) { sizing.off.insert(.breaker) }
    example.pools = [PipelinePool(id: "pool", capacity: 4, adaptive: sizing)]
    var frames = TinyFrames(times: [])
    for burst in 0..<random.pick(28...34) {
      for _ in 0..<random.pick(3...4) { frames.times.append(Int64(2 * burst) * example.tick) }
    }
    var service = ModelCase.Service(cost: .fixed(.nanoseconds(example.tick)))
    service.concurrency = 4
    let source = newID()
    example.nodes = [ModelCase.Node(id: source, role: .source(frames), pool: "pool")]
    let served = grown(.stage(service), behind: End(node: source, kind: .frame, source: 0))
    add(last(), behind: served)
    for index in example.edges.indices { example.edges[index].policy = .block }
    for index in example.edges.indices { example.edges[index].capacity = 4 }
    drawDevice()
    drawChanges()
    return example
  }
}

// MARK: - Sources that wait

extension CaseDrawing {
  /// Drawn from a separate generator, so that the rest of a case does not depend on it.
  mutating func drawWaits() {
    var own = SeededGenerator(seed: example.seed ^ 0x7761_6974)
    let leasing = Set(
      example.nodes.compactMap { node in
        guard case .source = node.role else { return String?.none }
        return node.pool
      })
    for index in example.pools.indices
    where example.pools[index].policy == .block && leasing.contains(example.pools[index].id) {
      guard own.chance(75) else { continue }
      // Some limits are shorter than any other time of the case, some longer than all of them.
      let ticks = Int64(own.pick([1, 1, 2, 3, 5, 9, 40]))
      example.pools[index].wait = .nanoseconds(own.chance(10) ? 1 : ticks * example.tick)
      example.pools[index].driverFrames = own.pick([0, 0, 1, 2])
    }
    shareWait(&own)
  }

  /// Often several sources wait for one pool of a few buffers, from which no stage leases.
  private mutating func shareWait(_ own: inout SeededGenerator) {
    let sources = example.nodes.indices.filter {
      guard case .source = example.nodes[$0].role else { return false }
      return true
    }
    guard sources.count > 1, !example.pools.isEmpty, own.chance(50) else { return }
    // A pool that no source leases from has no wait.
    for index in example.pools.indices {
      (example.pools[index].wait, example.pools[index].driverFrames) = (nil, 0)
    }
    let wait = Int64(own.pick([2, 5, 9, 40])) * example.tick
    example.pools.append(
      PipelinePool(
        id: "shared", capacity: own.pick(1...3), wait: .nanoseconds(wait),
        driverFrames: own.pick([0, 0, 1, 2])))
    for index in sources { example.nodes[index].pool = "shared" }
  }
}
