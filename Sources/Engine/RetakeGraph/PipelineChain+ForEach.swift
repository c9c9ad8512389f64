public import RetakeBuffers
public import RetakeCore

extension PipelineChain where Output == Frame {
  /// Classifies each detection of the frames. The chain continues with the classified detections.
  ///
  /// ```swift
  /// let named = frames.forEach(frames.stage(detector)) { region in
  ///   region.stage(RegionCrop()).stage(classifier)
  /// }
  /// ```
  ///
  /// A join with the ports `frame` and `detections` is added before it. Its ID is the given ID with
  /// the suffix `-input`.
  /// - Parameters:
  ///   - detections: Detections of the same frames.
  ///   - id: By default `forEach`.
  ///   - body: The stages in one chain, from a region to its classes.
  public func forEach(
    _ detections: PipelineChain<Detections>, id: String? = nil,
    _ body: (PipelineChain<Region>) throws -> PipelineChain<Classes>
  ) rethrows -> PipelineChain<Detections> {
    let (joined, id) = joining(detections, id: id)
    return try joined.forEachItem(id: id, body)
  }

  /// Applies the body to each detection of the frames. The chain continues with a list of its
  /// outputs.
  ///
  /// ```swift
  /// let sizes = frames.forEach(found, id: "sizes") { region in region.stage(Measure()) }
  /// ```
  public func forEach<Value: PipelineValue>(
    _ detections: PipelineChain<Detections>, id: String? = nil,
    _ body: (PipelineChain<Region>) throws -> PipelineChain<Value>
  ) rethrows -> PipelineChain<Items> {
    let (joined, id) = joining(detections, id: id)
    return try joined.forEachItem(id: id, body)
  }

  private func joining(
    _ detections: PipelineChain<Detections>, id: String?
  ) -> (PipelineChain<Joined>, id: String) {
    // The id has to be free in both branches, which are merged only with the join.
    var both = pipeline
    both.merge(detections.pipeline)
    let id = id ?? both.freeID(for: AnyStage.forEachKind)
    return (
      Pipeline.joining(self, detections, ports: ["frame", "detections"], id: "\(id)-input"), id
    )
  }
}

extension PipelineChain where Output == Detections {
  /// Classifies each detection, in the frames that its detector was given. The chain continues with
  /// the classified detections.
  ///
  /// ```swift
  /// let named = frames.stage(detector).forEach { region in
  ///   region.stage(RegionCrop()).stage(classifier)
  /// }
  /// ```
  ///
  /// A body that ends with another value, and detections of several branches, need the frames:
  /// `frames.forEach(detections) { … }`.
  public func forEach(
    id: String? = nil, _ body: (PipelineChain<Region>) throws -> PipelineChain<Classes>
  ) rethrows -> PipelineChain<Detections> {
    try searchedFrames.forEach(self, id: id, body)
  }

  /// The input of the nearest node before this one whose input is a frame.
  private var searchedFrames: PipelineChain<Frame> {
    var id = last
    // Ends: a chain only adds nodes downstream of existing nodes, so there is no cycle.
    while let node = pipeline.nodes.first(where: { $0.id == id }) {
      let inputs = pipeline.edges.filter { $0.to == id }
      guard inputs.count == 1 else { break }
      if node.stage.signature.input == .frame {
        return PipelineChain<Frame>(
          pipeline: pipeline, last: inputs[0].from, port: inputs[0].fromPort, isBody: isBody)
      }
      id = inputs[0].from
    }
    requirementFailure(
      "the detections of '\(last)' do not come from one detector; name their frames: "
        + "frames.forEach(detections)")
  }
}

extension PipelineChain where Output == Joined {
  /// Classifies each detection of a join whose values include a frame and detections.
  ///
  /// ```swift
  /// Pipeline.joining(frames, found, ports: ["frame", "detections"], timeout: .milliseconds(80))
  ///   .forEach { region in region.stage(RegionCrop()).stage(classifier) }
  /// ```
  public func forEach(
    id: String? = nil, _ body: (PipelineChain<Region>) throws -> PipelineChain<Classes>
  ) rethrows -> PipelineChain<Detections> {
    try forEachItem(id: id, body)
  }

  /// Applies the body to each detection of a join whose values include a frame and detections.
  ///
  /// ```swift
  /// joined.forEach(id: "sizes") { region in region.stage(Measure()) }
  /// ```
  public func forEach<Value: PipelineValue>(
    id: String? = nil, _ body: (PipelineChain<Region>) throws -> PipelineChain<Value>
  ) rethrows -> PipelineChain<Items> {
    try forEachItem(id: id, body)
  }

  fileprivate func forEachItem<Value: PipelineValue, Gathered: PipelineValue>(
    id: String?, _ body: (PipelineChain<Region>) throws -> PipelineChain<Value>
  ) rethrows -> PipelineChain<Gathered> {
    requirement(!isBody, "a forEach cannot be in the body of another")
    let start = PipelineChain<Region>(
      pipeline: Pipeline(name: "body", nodes: [], edges: []), last: "", isBody: true)
    // The closure may also return a captured chain instead of a chain that begins with its region.
    let end = try body(start)
    requirement(
      end.isBody && !end.pipeline.nodes.isEmpty, "the body of a forEach begins with its region")
    let chain: PipelineChain<Gathered> = appending(.forEach, id: id)
    var result = chain.changingLast {
      $0.body = PipelineBody(
        nodes: end.pipeline.nodes, edges: end.pipeline.edges, output: end.last)
    }
    // In a document, a body cannot declare executors and pools, so executors and pools of the
    // closure become the pipeline's.
    result.pipeline.merge(
      Pipeline(
        name: "body", nodes: [], edges: [], executors: end.pipeline.executors,
        pools: end.pipeline.pools))
    return result
  }
}
