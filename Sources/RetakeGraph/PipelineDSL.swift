import RetakeBuffers
import RetakeCore

extension Pipeline {
  /// Begins a pipeline: `Pipeline.named("motion").source(.session()).stage(Grey())…`
  public static func named(_ name: String) -> PipelineStart { PipelineStart(name: name) }
}

/// A pipeline that has a name and no source yet.
public struct PipelineStart: Sendable {
  package var name: String

  /// Begins with a source; without an id it is named `camera`.
  public func source(_ source: AnyStage, id: String = "camera") -> PipelineChain<Frame> {
    precondition(source.signature.role == .source, "a pipeline begins with a source")
    let node = PipelineNode(id: id, stage: source)
    return PipelineChain(
      pipeline: Pipeline(name: name, nodes: [node], edges: []), last: id)
  }
}

/// A pipeline under construction, whose last node gives values of one type. Every word returns a
/// new chain, so a prefix can be kept and used again.
public struct PipelineChain<Output: PipelineValue>: Sendable {
  package var pipeline: Pipeline
  package var last: String

  /// Adds a pure stage; its input type must be what the chain gives.
  ///
  /// Without an id, the node is named by its kind, and from the second of a kind on by kind and
  /// number (`grey`, `grey-2`).
  public func stage<Stage: PureStage>(
    _ stage: Stage, id: String? = nil
  ) -> PipelineChain<Stage.Output> where Stage.Input == Output {
    appending(AnyStage(stage), id: id)
  }

  /// Adds a stateful stage; its input type must be what the chain gives.
  public func stage<Stage: StatefulStage>(
    _ stage: Stage, id: String? = nil
  ) -> PipelineChain<Stage.Output> where Stage.Input == Output {
    appending(AnyStage(stage), id: id)
  }

  /// Adds a pure computation written in place. It runs, but such a pipeline has no document: give
  /// it an identity with a `PureStage` type to export or cache it.
  public func map<Next: PipelineValue>(
    _ id: String, _ body: @escaping @Sendable (Output, StageContext) -> Next
  ) -> PipelineChain<Next> {
    let signature = StageSignature(
      kind: id, version: 1, role: .pure, input: Output.valueKind, output: Next.valueKind,
      summary: "closure")
    let stage = AnyStage(
      signature: signature, options: .object([:]),
      body: .pure { input, context in
        guard let typed = input as? Output else { return .failure(.wrongInput(id)) }
        return .success(body(typed, context))
      }, isExportable: false)
    return appending(stage, id: id)
  }

  /// Adds a node that the engine carries out and that passes its input on, such as a throttle.
  public func passing(_ stage: AnyStage, id: String? = nil) -> PipelineChain<Output> {
    appending(stage, id: id)
  }

  /// The virtual cost of the last node.
  public func cost(_ cost: Cost) -> Self {
    changingLast { $0.cost = cost }
  }

  /// The shared executor that serves the last node; declare it with `executor(_:count:)` once.
  public func on(executor: String) -> Self {
    changingLast { $0.executor = executor }
  }

  /// Declares a shared executor with so many servers.
  public func executor(_ id: String, count: Int = 1) -> Self {
    var chain = self
    chain.pipeline.executors.append(PipelineExecutor(id: id, count: count))
    return chain
  }

  /// The queue in front of the last node.
  public func queue(capacity: Int, policy: EdgePolicy = .block) -> Self {
    var chain = self
    for index in chain.pipeline.edges.indices where chain.pipeline.edges[index].to == last {
      chain.pipeline.edges[index].capacity = capacity
      chain.pipeline.edges[index].policy = policy
    }
    return chain
  }

  /// Ends the pipeline with a sink; the only one is the primary one.
  public func sink(_ sink: AnyStage, id: String? = nil, quantum: [String: Double] = [:])
    -> Pipeline
  {
    precondition(sink.signature.role == .sink, "a pipeline ends with a sink")
    let chain: PipelineChain<Output> = appending(sink, id: id)
    return chain.changingLast {
      $0.isPrimary = true
      $0.quantum = quantum
    }.pipeline
  }

  private func appending<Next>(_ stage: AnyStage, id: String?) -> PipelineChain<Next> {
    var grown = pipeline
    let id = id ?? grown.freeID(for: stage.signature.kind)
    grown.nodes.append(PipelineNode(id: id, stage: stage))
    grown.edges.append(PipelineEdge(from: last, to: id))
    return PipelineChain<Next>(pipeline: grown, last: id)
  }

  private func changingLast(_ change: (inout PipelineNode) -> Void) -> Self {
    var chain = self
    for index in chain.pipeline.nodes.indices where chain.pipeline.nodes[index].id == last {
      change(&chain.pipeline.nodes[index])
    }
    return chain
  }
}

extension Pipeline {
  fileprivate func freeID(for kind: String) -> String {
    guard node(kind) != nil else { return kind }
    var number = 2
    while node("\(kind)-\(number)") != nil { number += 1 }
    return "\(kind)-\(number)"
  }
}

extension PipelineNode {
  /// Whether a text is `[a-z][A-Za-z0-9-]*`, at most 64 characters long.
  package static func isValidID(_ text: String) -> Bool {
    guard let first = text.utf8.first, (97...122).contains(first), text.utf8.count <= 64 else {
      return false
    }
    return text.utf8.allSatisfy {
      (97...122).contains($0) || (65...90).contains($0) || (48...57).contains($0) || $0 == 45
    }
  }
}
