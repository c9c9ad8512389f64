package import RetakeCore
package import RetakeGraph

/// The timing of another device: how much slower each stage is, how many servers it has, and how it
/// slows down when it gets hot.
package struct DeviceProfile: Hashable, Sendable {
  /// A factor for costs from a point of virtual time on.
  package struct ThermalStep: Hashable, Sendable {
    package var after: Duration
    package var scale: DecimalRatio

    package init(after: Duration, scale: DecimalRatio) {
      self.after = after
      self.scale = scale
    }
  }

  /// The key of `scale` for every stage without a key of its own.
  package static let everyStage = "*"

  package var name: String
  /// By node ID.
  package var scale: [String: DecimalRatio]
  /// Servers by executor ID.
  package var executors: [String: Int]
  /// Capacities by pool ID.
  package var pools: [String: Int]
  /// In rising order of `after`; before the first, costs are not scaled.
  package var thermal: [ThermalStep]

  package init(
    name: String, scale: [String: DecimalRatio] = [:], executors: [String: Int] = [:],
    pools: [String: Int] = [:], thermal: [ThermalStep] = []
  ) {
    self.name = name
    self.scale = scale
    self.executors = executors
    self.pools = pools
    self.thermal = thermal
  }

  package func scale(of node: String) -> DecimalRatio {
    scale[node] ?? scale[Self.everyStage] ?? .one
  }

  /// The last step that has begun.
  package func thermalScale(at nanoseconds: Int64) -> DecimalRatio {
    thermal.last { $0.after.nanoseconds <= nanoseconds }?.scale ?? .one
  }

  /// XXH3-128 of the profile's content, independent of its formatting.
  package var digest: Digest128 { Digest128(of: json.canonicalText) }

  private var json: JSONValue {
    .object([
      "name": .string(name), "scale": .object(scale.mapValues { .string("\($0)") }),
      "executors": .object(executors.mapValues { .integer(Int64($0)) }),
      "pools": .object(pools.mapValues { .integer(Int64($0)) }),
      "thermal": .array(
        thermal.map {
          .object(["after": .string($0.after.unitText), "scale": .string("\($0.scale)")])
        }),
    ])
  }
}

extension DeviceProfile {
  /// The pipeline with this device's servers and buffers.
  package func applied(to pipeline: Pipeline) -> Pipeline {
    var pipeline = pipeline
    for index in pipeline.executors.indices {
      pipeline.executors[index].count =
        executors[pipeline.executors[index].id] ?? pipeline.executors[index].count
    }
    pipeline.pools = pipeline.pools.map { pool in pools[pool.id].map { pool.fixed(at: $0) } ?? pool
    }
    return pipeline
  }

  /// Entries that match nothing in a pipeline, each with advice. A profile may be meant for several
  /// pipelines.
  package func notes(for pipeline: Pipeline) -> [String] {
    let stages = scale.keys.filter { $0 != Self.everyStage }
    return notes("stage", stages, among: pipeline.flattened().nodes.map(\.id))
      + notes("executor", Array(executors.keys), among: pipeline.executors.map(\.id))
      + notes("pool", Array(pools.keys), among: pipeline.pools.map(\.id))
  }

  /// Inserted nodes are named after the node that they belong to: `motion/convert`.
  private func notes(_ word: String, _ given: [String], among known: [String]) -> [String] {
    given.sorted().filter { id in !known.contains { id == $0 || id.hasPrefix("\($0)/") } }.map {
      "the profile '\(name)' names the \(word) '\($0)', which the pipeline does not have. "
        + Suggestion.advice(for: $0, among: known)
    }
  }
}
