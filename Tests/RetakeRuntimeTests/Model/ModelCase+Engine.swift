import RetakeBuffers
import RetakeCore
import RetakeGraph

@testable import RetakeRuntime

extension ModelCase {
  /// The case as the engine takes it.
  var pipeline: Pipeline { pipeline(reading: Nodes.source(frames)) }

  func pipeline(reading source: AnyStage) -> Pipeline {
    var nodes = [PipelineNode(id: "camera", stage: source)]
    var edges: [PipelineEdge] = []
    for stage in stages {
      edges.append(
        PipelineEdge(
          from: nodes[nodes.count - 1].id, to: stage.id, capacity: stage.capacity,
          policy: stage.policy))
      nodes.append(node(stage))
    }
    // The order in the document is not the order of the line.
    return Pipeline(
      name: "case", nodes: nodes.reversed(), edges: edges.reversed(), executors: servers)
  }

  private func node(_ stage: Stage) -> PipelineNode {
    switch stage.role {
    case .sink: return PipelineNode(id: stage.id, stage: Nodes.sink())
    case .throttle(let ticks):
      return PipelineNode(
        id: stage.id, stage: Nodes.throttle(1_000_000_000 / Double(Int64(ticks) * tick)))
    case .stage(let cost, let failures, let executor, let memory):
      return PipelineNode(
        id: stage.id, stage: MixingStage.stage(failures: failures, memory: memory), cost: cost,
        executor: executor)
    }
  }

  /// The case as the model takes it.
  var model: TimePlaneModel {
    var executors = servers.map(\.count)
    var nodes = [TimePlaneModel.Node(id: "camera", role: .source, policy: .block)]
    for stage in stages {
      nodes.append(
        TimePlaneModel.Node(
          id: stage.id, role: modelRole(stage, executors: &executors),
          capacity: mode == .lossless ? nil : stage.capacity, policy: .init(stage.policy)))
    }
    return TimePlaneModel(nodes: nodes, servers: executors, arrivals: modelFrames)
  }

  private func modelRole(_ stage: Stage, executors: inout [Int]) -> TimePlaneModel.Role {
    switch stage.role {
    case .sink: return .sink
    case .throttle(let ticks): return .throttle(interval: Int64(ticks) * tick)
    case .stage(let cost, let failures, let executor, _):
      let costs = CostModel.declared(seed: seed)
      let hash = Draw.hash(ofNode: stage.id)
      let nanoseconds = frames.times.indices.map {
        mode == .lossless
          ? 0 : costs.nanoseconds(of: cost, nodeHash: hash, sequence: $0, item: -1)
      }
      var index = servers.firstIndex { $0.id == executor }
      if index == nil {
        executors.append(1)
        index = executors.count - 1
      }
      return .stage(cost: nanoseconds, failures: failures, executor: index ?? 0)
    }
  }

  private var modelFrames: [TimePlaneModel.Frame] {
    let origin = frames.times[0]
    let times = mode == .lossless ? frames.times : frames.arrivals ?? frames.times
    return times.indices.filter { !frames.shed.contains($0) }.map {
      TimePlaneModel.Frame(
        sequence: $0, time: times[$0] - origin, damage: frames.damaged[$0])
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

/// Mixes its input's digest with what it remembers, and fails on chosen frames.
enum MixingStage {
  static func stage(failures: [Int: TimePlaneModel.Failure], memory: Bool) -> AnyStage {
    let signature = StageSignature(
      kind: memory ? "remembering" : "mixing", version: 1, role: memory ? .stateful : .pure,
      input: nil, output: .scalars, canFail: !failures.isEmpty)
    let body: AnyStage.Body =
      memory
      ? .stateful { Memory(failures: failures) }
      : .pure { input, context in outcome(input, context, failures, state: 0) }
    return AnyStage(signature: signature, options: .object([:]), body: body)
  }

  fileprivate static func outcome(
    _ input: any PipelineValue, _ context: StageContext,
    _ failures: [Int: TimePlaneModel.Failure], state: UInt64
  ) -> StageOutcome {
    if let failure = failures[context.frame.sequence] {
      return .failure(
        StageError(
          code: ModelCase.failureCode, message: "a chosen frame",
          severity: failure == .recoverable ? .recoverable : .unrecoverable))
    }
    let mixed = (input.digest.low &+ state) % 1_000_003
    return .success(Scalars([.init("mixed", Double(mixed))]))
  }

  private final class Memory: StageInstance, @unchecked Sendable {
    // SAFETY: @unchecked; calls come one after another, in service order.
    private var state: UInt64 = 0
    private let failures: [Int: TimePlaneModel.Failure]

    init(failures: [Int: TimePlaneModel.Failure]) { self.failures = failures }

    func process(_ input: any PipelineValue, _ context: StageContext) -> StageOutcome {
      state = state &* 31 &+ input.digest.low
      return outcome(input, context, failures, state: state)
    }

    func reset() { state = 0 }
  }
}
