import RetakeCore
import RetakeGraph
import RetakeRuntime
import RetakeTimePlane

extension ModelCase {
  /// The case in the form of the engine.
  var pipeline: Pipeline { pipeline { Nodes.source($0) } }

  /// The options of the engine's run.
  var options: RunOptions {
    var options = RunOptions(mode: mode, workers: 0, seed: seed)
    options.overrides = overrides.map { override in
      switch override {
      case .device(let change):
        .event(atNanoseconds: Int64(change.ticks) * tick, change.event)
      case .swap(let swap): .swap(stageSwap(swap))
      }
    }
    return options
  }

  private func stageSwap(_ swap: Swap) -> StageSwap {
    let moment: StageSwap.Moment =
      switch swap.moment {
      case .ticks(let ticks): .nanoseconds(Int64(ticks) * tick)
      case .arrival(let frame): .arrival(frame)
      }
    return StageSwap(
      at: moment, node: swap.node, stage: MixingNodes.stage(swap.service),
      cost: swap.service.cost, prepare: .nanoseconds(Int64(swap.prepareTicks) * tick))
  }

  /// The device events of a session.
  private var recorded: [TimedDeviceEvent] {
    changes.enumerated().map { ordinal, change in
      TimedDeviceEvent(
        ordinal: ordinal, timestamp: Timestamp(nanoseconds: origin + Int64(change.ticks) * tick),
        event: change.event)
    }
  }

  /// The same, with other stages for its sources.
  func pipeline(reading source: (TinyFrames) -> AnyStage) -> Pipeline {
    Pipeline(
      name: "case", nodes: nodes.map { pipelineNode($0, source) }, edges: edges,
      executors: servers, pools: pools)
  }

  private func pipelineNode(_ node: Node, _ source: (TinyFrames) -> AnyStage) -> PipelineNode {
    var result: PipelineNode
    switch node.role {
    case .source(var frames):
      frames.events = recorded
      result = PipelineNode(id: node.id, stage: source(frames))
    case .stage(let service): result = served(node.id, service)
    case .throttle(let ticks, let rules):
      result = PipelineNode(
        id: node.id,
        stage: Nodes.throttle(
          fps(ticks), rules: rules.map { DeviceRule(thermal: $0.heat, fps: fps($0.ticks)) }))
    case .sample(let count):
      result = PipelineNode(id: node.id, stage: MixingNodes.sample(count))
    case .route(let ports, let choices):
      result = PipelineNode(id: node.id, stage: MixingNodes.route(ports, choices))
    case .join(let ports, let mode, let timeout):
      result = PipelineNode(id: node.id, stage: .join(ports, mode: mode))
      result.timeout = duration(timeout)
    case .latest(let ports): result = PipelineNode(id: node.id, stage: .latest(ports))
    case .forEach(let body, let capacities):
      result = PipelineNode(id: node.id, stage: .forEach)
      result.body = pipelineBody(body, capacities)
    case .sink(let hold):
      result = PipelineNode(id: node.id, stage: Nodes.sink())
      result.hold = hold == 0 ? nil : duration(hold)
    case .screen(let millihertz):
      result = PipelineNode(id: node.id, stage: Nodes.screen(millihertz))
    }
    result.pool = node.pool
    return result
  }

  private func fps(_ ticks: Int) -> Double {
    ticks == 0 ? 0 : 1_000_000_000 / Double(Int64(ticks) * tick)
  }

  private func duration(_ ticks: Int?) -> Duration? {
    ticks.map { .nanoseconds(Int64($0) * tick) }
  }

  private func served(_ id: String, _ service: Service) -> PipelineNode {
    var node = PipelineNode(
      id: id, stage: MixingNodes.stage(service), cost: service.cost, executor: service.executor)
    node.concurrency = service.concurrency
    node.isPinned = service.isPinned
    if let batch = service.batch {
      node.batch = PipelineBatch(
        max: batch.max, wait: .nanoseconds(Int64(batch.waitTicks) * tick))
      node.costPerFrame = .nanoseconds(Int64(batch.ticksPerFrame) * tick)
    }
    node.timeout = duration(service.timeoutTicks)
    node.fallback = service.hasFallback ? .previous : nil
    return node
  }

  private func pipelineBody(_ body: [Node], _ capacities: [Int]) -> PipelineBody {
    let inner = zip(zip(body, body.dropFirst()), capacities).map { pair, capacity in
      PipelineEdge(from: pair.0.id, to: pair.1.id, capacity: capacity)
    }
    return PipelineBody(
      nodes: body.reversed().map { pipelineNode($0, Nodes.source) }, edges: inner,
      output: body[body.count - 1].id)
  }
}
