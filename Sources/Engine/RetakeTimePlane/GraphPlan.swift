package import RetakeBuffers
import RetakeCore
package import RetakeGraph

/// A validated flat pipeline that uses numbers instead of names. Nodes are in the order of the time
/// plane.
package struct GraphPlan: Sendable {
  package struct Node: Sendable {
    package var id: String
    package var role: StageRole
    package var stage: AnyStage
    package var hash: UInt64
    package var cost: Cost?
    package var costPerFrameNanoseconds: Int64
    package var batch: PipelineBatch?
    /// By port; one edge for nodes without ports.
    package var inEdges: [Int]
    package var outEdges: [Int]
    /// `nil` for nodes without a server.
    package var executor: Int?
    package var rank: Int
    package var concurrency: Int
    package var isPinned: Bool
    package var hasFallback: Bool
    package var timeoutNanoseconds: Int64?
    package var holdNanoseconds: Int64?
    package var pool: Int?
    /// The source whose frames reach this node.
    package var source = 0
    /// The forEach whose body contains this node; its own index at a forEach.
    package var fork: Int?
    /// The `x/join` of a forEach.
    package var gather: Int?

    package var inEdge: Int? { inEdges.first }
    /// Whether a source that changes its pixel format could send the stage a format that it does
    /// not accept.
    package var guardsFormat = false
    /// Whether virtual time has to wait for the body's outcome.
    package var isGate: Bool { stage.signature.canFail || guardsFormat }
    /// Whether the frames of its batches are computed in one call.
    package var computesBatches: Bool { batch != nil && stage.batchBody != nil }
    /// Whether its values may be computed before virtual time needs them. Virtual time decides which
    /// frames are a batch.
    package var isComputedAhead: Bool {
      role == .source || role == .pure && !computesBatches
    }
    /// Whether the node handles items instead of frames.
    package var isInner: Bool { fork != nil && role.isServed }
  }

  /// The pinned nodes. Each pinned node has its own thread.
  package var pinned: [Int] { nodes.indices.filter { nodes[$0].isPinned } }

  package struct Edge: Sendable {
    package var from: Int
    package var to: Int
    package var fromPort: Int
    package var toPort: Int
    package var capacity: Int
    package var policy: EdgePolicy
  }

  /// A node whose value may be computed as soon as a source's frame is known.
  package struct AheadStep: Sendable {
    package var node: Int
    package var from: Int
    /// Otherwise the node passes its input on.
    package var isPure: Bool
  }

  package struct Executor: Sendable {
    package var id: String
    package var count: Int
    /// In rising order: rank, then ID.
    package var nodes: [Int]
  }

  package var nodes: [Node]
  package var edges: [Edge]
  package var executors: [Executor]
  package var pools: [PipelinePool]
  package var sources: [Int]
  /// In the byte order of their IDs.
  package var sinks: [Int]
  package var primarySink: Int
  /// By source: the positions in `sinks` of the sinks whose ledger counts its frames.
  package private(set) var sinkPositions: [[Int]] = []
  /// By source: the pure stages with only pure stages and thinning nodes upstream, up to the first
  /// that computes batches.
  package private(set) var aheadSteps: [[AheadStep]] = []

  /// - Parameters:
  ///   - pipeline: A flat pipeline, as returned by `Pipeline.flattened`.
  ///   - otherFormats: Formats of later frames that are not in `PixelFormat.basic`.
  package init(
    _ pipeline: Pipeline, otherFormats: [PixelFormat] = []
  ) throws {
    let ordered = try pipeline.topologicalOrder()
    let ranks = try pipeline.ranks()
    let mains = try pipeline.mainSources()
    var indexes: [String: Int] = [:]
    for (index, node) in ordered.enumerated() { indexes[node.id] = index }
    pools = pipeline.pools
    // The index of a node is its place in the keys of events: by rank, then by the bytes of its ID.
    nodes = ordered.map { Node($0, rank: ranks[$0.id] ?? 0, pools: pipeline.pools) }
    edges = pipeline.edges.compactMap { edge in
      guard let from = indexes[edge.from], let to = indexes[edge.to] else { return nil }
      return Edge(
        from: from, to: to, fromPort: ordered[from].stage.outputPorts.index(of: edge.fromPort),
        toPort: ordered[to].stage.inputPorts.index(of: edge.toPort), capacity: edge.capacity,
        policy: edge.policy)
    }
    executors = []
    sources = nodes.indices.filter { ordered[$0].stage.signature.role == .source }
    // sink-order: results and ledgers name the sinks in this order.
    sinks = nodes.indices.filter { ordered[$0].stage.signature.role == .sink }
      .sorted { ordered[$0].id.utf8.lexicographicallyPrecedes(ordered[$1].id.utf8) }
    // ledger: the headline is the ledger of this sink.
    guard let primary = pipeline.primarySink.flatMap({ indexes[$0] }) else {
      throw pipeline.placing(
        PipelineError(
          .missing("the pipeline has no sink", advice: "Add a node of kind 'results'"),
          at: "/nodes"))
    }
    primarySink = primary
    connect()
    let guarded = try pipeline.stagesToGuard(others: otherFormats)
    for index in nodes.indices { nodes[index].guardsFormat = guarded.contains(nodes[index].id) }
    for (index, node) in ordered.enumerated() {
      nodes[index].source = mains[node.id].flatMap { indexes[$0] } ?? 0
      guard let fork = node.scope.flatMap({ indexes[$0] }) else { continue }
      nodes[index].fork = fork
      nodes[fork].fork = fork
      if nodes[index].role == .gather { nodes[fork].gather = index }
    }
    sinkPositions = nodes.map { _ in [] }
    for position in sinks.indices { sinkPositions[nodes[sinks[position]].source].append(position) }
    aheadSteps = nodes.indices.map { aheadSteps(ofSource: $0) }
    assignExecutors(pipeline, ordered)
  }

  private func aheadSteps(ofSource source: Int) -> [AheadStep] {
    guard nodes[source].role == .source else { return [] }
    var isKnown: Set = [source]
    return nodes.indices.compactMap { node in
      guard nodes[node].source == source, !nodes[node].isInner, let edge = nodes[node].inEdge,
        isKnown.contains(edges[edge].from)
      else { return nil }
      if nodes[node].computesBatches { return nil }
      switch nodes[node].role {
      case .throttle, .sample, .route, .pure:
        isKnown.insert(node)
        return AheadStep(node: node, from: edges[edge].from, isPure: nodes[node].role == .pure)
      case .source, .stateful, .join, .latest, .fork, .gather, .sink: return nil
      }
    }
  }

  /// Whether pixels that are computed ahead are kept until virtual time needs them, because a node
  /// other than a pure stage reads them.
  package var keepsPixelsAhead: Bool { sources.contains { keepsPixels(ofNode: $0) } }

  private func keepsPixels(ofNode node: Int) -> Bool {
    if nodes[node].hasFallback { return true }
    return nodes[node].outEdges.contains { edge in
      let target = edges[edge].to
      guard nodes[target].isComputedAhead else { return true }
      return nodes[target].stage.signature.output == .frame && keepsPixels(ofNode: target)
    }
  }

  private mutating func connect() {
    for (index, edge) in edges.enumerated() {
      nodes[edge.from].outEdges.append(index)
      nodes[edge.to].inEdges.append(index)
    }
    for index in nodes.indices {
      // Decisions must not depend on the order in which a document lists its edges. join-take
      // relies on the order of ports.
      nodes[index].inEdges.sort { edges[$0].toPort < edges[$1].toPort }
      nodes[index].outEdges.sort {
        (edges[$0].to, edges[$0].toPort) < (edges[$1].to, edges[$1].toPort)
      }
    }
  }

  /// Shared executors as declared. Every other stage has its own executor, with one server per
  /// slot.
  private mutating func assignExecutors(_ pipeline: Pipeline, _ ordered: [PipelineNode]) {
    executors = pipeline.executors.map { Executor(id: $0.id, count: $0.count, nodes: []) }
    for index in nodes.indices where nodes[index].role.isServed {
      let shared = ordered[index].executor.flatMap { id in
        executors.firstIndex { $0.id == id }
      }
      // order-once: nodes are added in rising order, so the first one is the first in every run.
      let executor = shared ?? executors.count
      if shared == nil {
        executors.append(
          Executor(id: nodes[index].id, count: nodes[index].concurrency, nodes: []))
      }
      executors[executor].nodes.append(index)
    }
    executors.removeAll { $0.nodes.isEmpty }
    for (executor, entry) in executors.enumerated() {
      for node in entry.nodes { nodes[node].executor = executor }
    }
  }
}

extension GraphPlan.Node {
  fileprivate init(_ node: PipelineNode, rank: Int, pools: [PipelinePool]) {
    self.init(
      id: node.id, role: node.stage.signature.role, stage: node.stage,
      hash: Draw.hash(ofNode: node.id), cost: node.cost,
      costPerFrameNanoseconds: node.costPerFrame?.nanoseconds ?? 0, batch: node.batch,
      inEdges: [], outEdges: [], executor: nil, rank: rank, concurrency: node.concurrency,
      isPinned: node.isPinned, hasFallback: node.fallback != nil,
      timeoutNanoseconds: node.timeout?.nanoseconds, holdNanoseconds: node.hold?.nanoseconds,
      pool: node.pool.flatMap { id in pools.firstIndex { $0.id == id } })
  }
}

extension [String] {
  /// The index of a port; 0 if the node has no named ports.
  fileprivate func index(of port: String?) -> Int { port.flatMap { firstIndex(of: $0) } ?? 0 }
}
