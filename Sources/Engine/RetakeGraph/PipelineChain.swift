import RetakeCore

/// A pipeline under construction, whose last node outputs values of one type. Every method returns
/// a new chain, so a prefix can be kept and reused.
///
/// A node comes first, then its settings, then the next node: `queue`, `cost`, `concurrency` and
/// the like change the last node, and must come before the sink, which ends the chain.
///
/// ```swift
/// let gray = Pipeline.named("yard").source(.session()).gray()
/// let boxes = gray.motion().results("boxes")
/// let light = gray.luminance().results("light")
/// let pipeline = Pipeline.combining(boxes, light)
/// ```
public struct PipelineChain<Output: PipelineValue>: Sendable {
  package var pipeline: Pipeline
  /// The last node; empty at the start of a forEach's body.
  package var last: String
  /// If the last node is a route: the port from which the chain continues.
  package var port: String?
  /// Whether this is the body of a forEach.
  package var isBody = false

  package init(
    pipeline: Pipeline, last: String, port: String? = nil, isBody: Bool = false
  ) {
    self.pipeline = pipeline
    self.last = last
    self.port = port
    self.isBody = isBody
  }

  /// Adds a pure stage. Its input type must be the output type of the chain.
  ///
  /// By default, the first node of a kind has the kind as its ID. Further nodes have the kind and a
  /// number (`gray`, `gray-2`).
  public func stage<Stage: PureStage>(
    _ stage: Stage, id: String? = nil
  ) -> PipelineChain<Stage.Output> where Stage.Input == Output {
    appending(AnyStage(stage), id: id)
  }

  /// Adds a stateful stage. Its input type must be the output type of the chain.
  public func stage<Stage: StatefulStage>(
    _ stage: Stage, id: String? = nil
  ) -> PipelineChain<Stage.Output> where Stage.Input == Output {
    appending(AnyStage(stage), id: id)
  }

  /// Adds a pure computation as a closure. It runs, but such a pipeline has no document. To export
  /// or cache it, write it as a `PureStage` type, which has an identity.
  ///
  /// ```swift
  /// detections.map("count") { found, _ in Scalars([.init("count", Double(found.items.count))]) }
  /// ```
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

  /// Adds a node that the engine executes and that passes its input on, such as a throttle.
  public func passing(_ stage: AnyStage, id: String? = nil) -> PipelineChain<Output> {
    requirement(
      [.throttle, .sample].contains(stage.signature.role),
      "a node that passes its input on is a throttle or a sample")
    return appending(stage, id: id)
  }

  /// The queue at the input of the last node; for a join, the queue at each port, or at the port
  /// with the given name.
  ///
  /// ```swift
  /// gray.motion().queue(capacity: 1, policy: .replace)
  /// ```
  public func queue(capacity: Int, policy: EdgePolicy = .block, port: String? = nil) -> Self {
    var chain = self
    let edges = pipeline.edges.indices.filter {
      pipeline.edges[$0].to == last && (port == nil || pipeline.edges[$0].toPort == port)
    }
    requirement(!edges.isEmpty, "there is no queue in front of '\(last)' to be changed")
    for index in edges {
      chain.pipeline.edges[index].capacity = capacity
      chain.pipeline.edges[index].policy = policy
    }
    return chain
  }

  /// Ends the pipeline with a sink. If there is only one sink, it is the primary one. If pipelines
  /// are combined, the sink of the first one is.
  ///
  /// - Parameters:
  ///   - sink: A stage whose role is a sink; with another one, the process ends.
  ///   - id: The node's ID; by default the kind, with a number from the second node of a kind on.
  ///   - precision: Steps in which numbers are written, by field: `box`, `score` and `scalar`.
  ///   - hold: How long the sink keeps each frame, as a screen does.
  public func sink(
    _ sink: AnyStage, id: String? = nil, precision: [String: Double] = [:], hold: Duration? = nil
  ) -> Pipeline {
    requirement(sink.signature.role == .sink, "a pipeline ends with a sink")
    requirement(!isBody, "the body of a forEach ends with a stage")
    let chain: PipelineChain<Output> = appending(sink, id: id)
    return chain.changingLast {
      $0.isPrimary = true
      $0.precision = precision
      $0.hold = hold
    }.pipeline
  }

  package func appending<Next>(_ stage: AnyStage, id: String?) -> PipelineChain<Next> {
    var grown = pipeline
    let id = id ?? grown.freeID(for: stage.signature.kind)
    grown.nodes.append(PipelineNode(id: id, stage: stage))
    // The first stage of a body has no edge; `flattened` adds the edge from the forEach.
    if !last.isEmpty { grown.edges.append(PipelineEdge(from: last, to: id, fromPort: port)) }
    return PipelineChain<Next>(pipeline: grown, last: id, isBody: isBody)
  }

  package func changingLast(_ change: (inout PipelineNode) -> Void) -> Self {
    guard let index = pipeline.nodes.lastIndex(where: { $0.id == last }) else {
      requirementFailure("the body of a forEach begins with a stage")
    }
    var chain = self
    change(&chain.pipeline.nodes[index])
    return chain
  }
}
