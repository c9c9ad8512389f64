import RetakeCore
import RetakeGraph
import RetakeTimePlane

extension SweepAxis {
  /// Sets one value.
  ///
  /// - Throws: `ReplayError.badSweep` if the pipeline has no part that the axis names.
  func apply(
    _ value: Value, to pipeline: inout Pipeline, _ costs: inout RunCosts
  ) throws {
    switch (target, value) {
    case (.scale, .ratio(let ratio)): costs.scale = ratio
    case (.queues, .count(let count)):
      // A replace edge always has the capacity 1, which cannot vary.
      for index in pipeline.edges.indices where pipeline.edges[index].policy != .replace {
        pipeline.edges[index].capacity = count
      }
    case (.queue(let node), .count(let count)):
      try setQueue(of: node, to: count, in: &pipeline)
    case (.executors, .count(let count)):
      try require(!pipeline.executors.isEmpty, "the pipeline declares no executors")
      for index in pipeline.executors.indices { pipeline.executors[index].count = count }
    case (.executor(let id), .count(let count)):
      let index = try position(of: id, among: pipeline.executors.map(\.id), "executor")
      pipeline.executors[index].count = count
    case (.pools, .count(let count)):
      try require(!pipeline.pools.isEmpty, "the pipeline has no pools")
      pipeline.pools = pipeline.pools.map { $0.fixed(at: count) }
    case (.pool(let id), .count(let count)):
      let index = try position(of: id, among: pipeline.pools.map(\.id), "pool")
      pipeline.pools[index] = pipeline.pools[index].fixed(at: count)
    case (.concurrency(let id), .count(let count)):
      let index = try position(of: id, among: pipeline.nodes.map(\.id), "node")
      pipeline.nodes[index].concurrency = count
    case (.rate(let id), .count(let count)):
      let index = try position(of: id, among: pipeline.nodes.map(\.id), "node")
      guard case .throttle(var policy) = pipeline.nodes[index].stage.body else {
        return try require(false, "'\(id)' is not a throttle")
      }
      policy.fps = Double(count)
      pipeline.nodes[index].stage = pipeline.nodes[index].stage.replacingBody(.throttle(policy))
    case (.scale, .count), (_, .ratio): preconditionFailure("an axis has values of its kind")
    }
  }

  private func setQueue(
    of node: String, to count: Int, in pipeline: inout Pipeline
  ) throws {
    _ = try position(of: node, among: pipeline.nodes.map(\.id), "node")
    let edges = pipeline.edges.indices.filter { pipeline.edges[$0].to == node }
    try require(!edges.isEmpty, "'\(node)' is a source and has no queue")
    try require(
      edges.allSatisfy { pipeline.edges[$0].policy != .replace },
      "the edge into '\(node)' replaces, and holds one frame")
    for edge in edges { pipeline.edges[edge].capacity = count }
  }

  private func require(_ holds: Bool, _ detail: String) throws {
    guard !holds else { return }
    throw ReplayError.badSweep(
      "'\(name)' cannot be varied: \(detail)",
      advice: "Vary one of: \(Self.names.joined(separator: ", "))")
  }

  private func position(
    of id: String, among known: [String], _ word: String
  ) throws -> Int {
    guard let index = known.firstIndex(of: id) else {
      throw ReplayError.badSweep(
        "'\(name)' cannot be varied: there is no \(word) '\(id)'",
        advice: Suggestion.advice(for: id, among: known))
    }
    return index
  }
}
