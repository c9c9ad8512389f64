import RetakeCore

extension Pipeline {
  /// Combines several pipelines into one. Nodes with the same ID and the same definition become one
  /// node, so branches with a common prefix share it.
  ///
  /// ```swift
  /// let gray = Pipeline.named("yard").source(.session()).gray()
  /// let pipeline = Pipeline.combining(
  ///   gray.motion().results("boxes"), gray.luminance().results("light"))
  /// ```
  ///
  /// The result has the name of the first pipeline, whose primary sink stays the headline. Two
  /// different nodes with the same ID are a programmer's mistake and stop the program.
  public static func combining(_ first: Pipeline, _ others: Pipeline...) -> Pipeline {
    combining([first] + others)
  }

  /// Combines a list of pipelines into one. The list must not be empty.
  ///
  /// ```swift
  /// Pipeline.combining([0, 1].map { half in frames.crop(x: 320 * half, …).results("half\(half)")
  /// })
  /// ```
  public static func combining(_ pipelines: [Pipeline]) -> Pipeline {
    requirement(!pipelines.isEmpty, "there is a pipeline to combine")
    var result = pipelines[0]
    for other in pipelines.dropFirst() {
      var other = other
      // `PipelineChain.sink` marks the sink of every chain, and a pipeline has one primary sink.
      if result.nodes.contains(where: \.isPrimary) {
        for index in other.nodes.indices { other.nodes[index].isPrimary = false }
      }
      result.merge(other)
    }
    return result
  }

  /// Makes the sink with this ID the primary sink: its ledger is the headline.
  ///
  /// ```swift
  /// Pipeline.combining(preview, vision).primary("boxes")
  /// ```
  public func primary(_ id: String) -> Pipeline {
    requirement(
      node(id)?.stage.signature.role == .sink, "the primary node is a sink of the pipeline")
    var result = self
    for index in nodes.indices { result.nodes[index].isPrimary = nodes[index].id == id }
    return result
  }

  /// Adds the nodes, edges, executors and pools of the other pipeline that this pipeline does not
  /// have.
  mutating func merge(_ other: Pipeline) {
    let known = Dictionary(nodes.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    for node in other.nodes {
      // New nodes are appended in their own order, because the order is part of the digest.
      guard let same = known[node.id] else {
        nodes.append(node)
        continue
      }
      requirement(
        same.isSame(as: node),
        "two different nodes have the id '\(node.id)': change one id, or set the options of both "
          + "before the chain branches")
    }
    merge(edges: other.edges)
    for executor in other.executors where !executors.contains(executor) {
      requirement(
        !executors.contains { $0.id == executor.id },
        "the executor '\(executor.id)' is declared twice, differently")
      executors.append(executor)
    }
    for pool in other.pools where !pools.contains(pool) {
      requirement(
        !pools.contains { $0.id == pool.id }, "the pool '\(pool.id)' is declared twice, differently"
      )
      pools.append(pool)
    }
  }

  private mutating func merge(edges others: [PipelineEdge]) {
    func ends(_ edge: PipelineEdge) -> [String?] {
      [edge.from, edge.fromPort, edge.to, edge.toPort]
    }
    let known = Dictionary(edges.map { (ends($0), $0) }, uniquingKeysWith: { first, _ in first })
    for edge in others {
      guard let same = known[ends(edge)] else {
        edges.append(edge)
        continue
      }
      requirement(
        same == edge,
        "the queue from '\(edge.from)' to '\(edge.to)' is declared twice, differently")
    }
  }
}

extension PipelineNode {
  /// Whether both are the same node of a document. Which sink is primary makes no difference.
  fileprivate func isSame(as other: PipelineNode) -> Bool {
    id == other.id && stage.isSame(as: other.stage) && cost == other.cost
      && executor == other.executor && precision == other.precision
      && concurrency == other.concurrency
      && batch == other.batch && costPerFrame == other.costPerFrame
      && isPinned == other.isPinned && fallback == other.fallback && timeout == other.timeout
      && pool == other.pool && hold == other.hold && hasSameBody(as: other)
  }

  private func hasSameBody(as other: PipelineNode) -> Bool {
    guard let body, let otherBody = other.body else { return body == nil && other.body == nil }
    return body.edges == otherBody.edges && body.output == otherBody.output
      && body.nodes.count == otherBody.nodes.count
      && zip(body.nodes, otherBody.nodes).allSatisfy { $0.isSame(as: $1) }
  }
}
