import RetakeCore

extension Pipeline {
  /// Joins branches: their outputs for one frame continue as one value. Branches with a common
  /// prefix share it.
  ///
  /// ```swift
  /// let pair = Pipeline.joining(frames.stage(small), frames.stage(large), mode: .any)
  ///   .timeout(.milliseconds(50))
  /// ```
  ///
  /// - Parameters:
  ///   - branches: 2 to 16 chains of the same source, each with the values of one port.
  ///   - ports: The names of the values, in order; by default, the IDs of the branches' last nodes.
  ///   - mode: `all` drops a frame that lacks a value, `any` continues with the values that
  ///     arrived.
  ///   - timeout: Counted from the first value of a frame; later values are late.
  ///   - id: The node's ID; by default the kind, with a number from the second node of a kind on.
  public static func joining<each Value: PipelineValue>(
    _ branches: repeat PipelineChain<each Value>, ports: [String]? = nil, mode: JoinMode = .all,
    timeout: Duration? = nil, id: String? = nil
  ) -> PipelineChain<Joined> {
    var ends: [BranchEnd] = []
    for branch in repeat each branches { ends.append(BranchEnd(branch)) }
    return joining(ends, ports: ports, id: id) { .join($0, mode: mode) }
      .waiting(timeout)
  }

  /// Joins a list of branches with the same type, such as the models of an ensemble.
  ///
  /// ```swift
  /// Pipeline.joining(models.map { frames.stage($0, id: $0.name) }, mode: .any)
  /// ```
  public static func joining<Value: PipelineValue>(
    _ branches: [PipelineChain<Value>], ports: [String]? = nil, mode: JoinMode = .all,
    timeout: Duration? = nil, id: String? = nil
  ) -> PipelineChain<Joined> {
    joining(branches.map { BranchEnd($0) }, ports: ports, id: id) { .join($0, mode: mode) }
      .waiting(timeout)
  }

  fileprivate static func joining(
    _ ends: [BranchEnd], ports: [String]?, id: String?, stage: ([String]) -> AnyStage
  ) -> PipelineChain<Joined> {
    // Branches of a route are named by its ports, because both end at the same node.
    let names = ports ?? ends.map { $0.port ?? $0.last }
    requirement(
      (2...AnyStage.portsMax).contains(ends.count), "a join has 2 to \(AnyStage.portsMax) branches")
    requirement(names.count == ends.count, "each branch of a join has a port")
    requirement(
      Set(names).count == names.count,
      "the ports of a join need different names: set them with ports:")
    requirement(!ends.contains(where: \.isBody), "the body of a forEach has no branches")
    var pipeline = ends[0].pipeline
    for end in ends.dropFirst() { pipeline.merge(end.pipeline) }
    let stage = stage(names)
    // After the merge: the id has to be free in all branches.
    let id = id ?? pipeline.freeID(for: stage.signature.kind)
    pipeline.nodes.append(PipelineNode(id: id, stage: stage))
    for (end, name) in zip(ends, names) {
      pipeline.edges.append(
        PipelineEdge(from: end.last, to: id, fromPort: end.port, toPort: name))
    }
    return PipelineChain(pipeline: pipeline, last: id)
  }
}

/// A branch without its type.
private struct BranchEnd {
  var pipeline: Pipeline
  var last: String
  var port: String?
  var isBody: Bool

  init<Value>(_ chain: PipelineChain<Value>) {
    pipeline = chain.pipeline
    last = chain.last
    port = chain.port
    isBody = chain.isBody
  }
}

extension PipelineChain {
  /// Continues with each frame of this chain and the newest value of the others, regardless of its
  /// age. The others may come from another source.
  ///
  /// ```swift
  /// let shown = frames.latest(with: frames.motion(), ports: ["frame", "boxes"])
  /// ```
  ///
  /// - Parameters:
  ///   - others: 1 to 15 chains whose newest values are read.
  ///   - ports: The names of the values, this chain's first; by default, the IDs of the chains'
  ///     last nodes.
  ///   - id: The node's ID; by default the kind, with a number from the second node of a kind on.
  public func latest<each Value: PipelineValue>(
    with others: repeat PipelineChain<each Value>, ports: [String]? = nil, id: String? = nil
  ) -> PipelineChain<Joined> {
    var ends = [BranchEnd(self)]
    for other in repeat each others { ends.append(BranchEnd(other)) }
    return Pipeline.joining(ends, ports: ports, id: id) { .latest($0) }
  }

  fileprivate func waiting(_ timeout: Duration?) -> Self {
    guard let timeout else { return self }
    return self.timeout(timeout)
  }
}
