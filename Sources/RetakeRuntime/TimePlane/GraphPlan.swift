import RetakeCore
import RetakeGraph

/// A validated pipeline with numbers for names: nodes in the order of the time plane.
package struct GraphPlan: Sendable {
  package struct Node: Sendable {
    package var id: String
    package var stage: AnyStage
    package var hash: UInt64
    package var cost: Cost?
    package var inEdge: Int?
    package var outEdges: [Int]
    /// `nil` for nodes that take no server.
    package var executor: Int?
    package var rank: Int

    package var role: StageRole { stage.signature.role }
  }

  package struct Edge: Sendable {
    package var from: Int
    package var to: Int
    package var capacity: Int
    package var policy: EdgePolicy
  }

  package struct Executor: Sendable {
    package var id: String
    package var count: Int
    /// Rising: rank, then id.
    package var nodes: [Int]
  }

  package var nodes: [Node]
  package var edges: [Edge]
  package var executors: [Executor]
  package var sources: [Int]
  /// By the bytes of their ids.
  package var sinks: [Int]
  package var primarySink: Int

  package init(_ pipeline: Pipeline) throws(PipelineError) {
    let ordered = try pipeline.topologicalOrder()
    let ranks = try pipeline.ranks()
    var indexes: [String: Int] = [:]
    for (index, node) in ordered.enumerated() { indexes[node.id] = index }
    edges = pipeline.edges.compactMap { edge in
      guard let from = indexes[edge.from], let to = indexes[edge.to] else { return nil }
      return Edge(from: from, to: to, capacity: edge.capacity, policy: edge.policy)
    }
    nodes = ordered.map {
      Node(
        id: $0.id, stage: $0.stage, hash: Draw.hash(ofNode: $0.id), cost: $0.cost, inEdge: nil,
        outEdges: [], executor: nil, rank: ranks[$0.id] ?? 0)
    }
    executors = []
    sources = nodes.indices.filter { ordered[$0].stage.signature.role == .source }
    sinks = nodes.indices.filter { ordered[$0].stage.signature.role == .sink }
      .sorted { ordered[$0].id.utf8.lexicographicallyPrecedes(ordered[$1].id.utf8) }
    guard let primary = pipeline.primarySink.flatMap({ indexes[$0] }) else {
      throw PipelineError(
        .missing("the pipeline has no sink", advice: "Add a node of kind 'results'"), at: "/nodes")
    }
    primarySink = primary
    connect()
    assignExecutors(pipeline, ordered)
  }

  private mutating func connect() {
    for (index, edge) in edges.enumerated() {
      nodes[edge.from].outEdges.append(index)
      nodes[edge.to].inEdge = index
    }
    for index in nodes.indices {
      nodes[index].outEdges.sort { edges[$0].to < edges[$1].to }
    }
  }

  /// Shared executors as declared; every other stage has one of its own.
  private mutating func assignExecutors(_ pipeline: Pipeline, _ ordered: [PipelineNode]) {
    executors = pipeline.executors.map { Executor(id: $0.id, count: $0.count, nodes: []) }
    for index in nodes.indices where [.pure, .stateful].contains(nodes[index].role) {
      let shared = ordered[index].executor.flatMap { id in
        executors.firstIndex { $0.id == id }
      }
      let executor = shared ?? executors.count
      if shared == nil {
        executors.append(Executor(id: nodes[index].id, count: 1, nodes: []))
      }
      executors[executor].nodes.append(index)
      nodes[index].executor = executor
    }
    executors.removeAll { $0.nodes.isEmpty }
    for (executor, entry) in executors.enumerated() {
      for node in entry.nodes { nodes[node].executor = executor }
    }
  }
}
