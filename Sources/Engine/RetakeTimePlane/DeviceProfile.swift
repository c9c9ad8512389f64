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

  /// The factors for costs and power in a thermal state and in all hotter states, until a later
  /// step.
  package struct StateScale: Hashable, Sendable {
    package var state: ThermalState
    /// A factor for costs.
    package var scale: DecimalRatio
    /// A factor for the power of busy servers, because a slower clock needs less.
    package var power: DecimalRatio

    package init(state: ThermalState, scale: DecimalRatio, power: DecimalRatio = .one) {
      self.state = state
      self.scale = scale
      self.power = power
    }
  }

  /// The key of `scale` for every stage without its own key.
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
  /// In rising order of states; before the first, costs are not scaled.
  package var states: [StateScale]
  /// Bytes per second at which a processor copies. The cost of a stage that makes a frame and has
  /// no declared cost is the time to write the frame; `nil` means no time.
  package var copyBytesPerSecond: Int64?
  /// How the device heats up; `nil` if heat is not modelled.
  package var heat: HeatModel?
  /// Where numbers come from: a path in the document, such as `heat.idle`, and `measured` or
  /// `assumed`, with a reason. It changes no decision, and no digest.
  package var basis: [String: String] = [:]

  package init(
    name: String, scale: [String: DecimalRatio] = [:], executors: [String: Int] = [:],
    pools: [String: Int] = [:], thermal: [ThermalStep] = [], states: [StateScale] = [],
    heat: HeatModel? = nil
  ) {
    self.name = name
    self.scale = scale
    self.executors = executors
    self.pools = pools
    self.thermal = thermal
    self.states = states
    self.heat = heat
  }

  package func scale(of node: String) -> DecimalRatio {
    scale[node] ?? scale[Self.everyStage] ?? .one
  }

  /// The last step that has begun.
  package func thermalScale(at nanoseconds: Int64) -> DecimalRatio {
    thermal.last { $0.after.nanoseconds <= nanoseconds }?.scale ?? .one
  }

  /// The step of the device's thermal state; 1 while the state is not known.
  package func scale(in state: ThermalState?) -> DecimalRatio {
    guard let state else { return .one }
    return states.last { $0.state <= state }?.scale ?? .one
  }

  /// The time to write this number of bytes, in nanoseconds, rounded down.
  package func copyNanoseconds(bytes: Int) -> Int64 {
    guard let rate = copyBytesPerSecond, rate > 0 else { return 0 }
    return Int64(min(Int128(bytes) * 1_000_000_000 / Int128(rate), Int128(Cost.nanosecondsMax)))
  }

  func heatMachine(for plan: GraphPlan) -> HeatStateMachine? {
    heat.map { HeatStateMachine($0, executors: plan.executors.map(\.id), scales: states) }
  }

  /// XXH3-128 of the profile's content, independent of its formatting.
  package var digest: Digest128 { Digest128(of: json.canonicalText) }

  private var json: JSONValue {
    var members: [String: JSONValue] = [
      "name": .string(name), "scale": .object(scale.mapValues { .string("\($0)") }),
      "executors": .object(executors.mapValues { .integer(Int64($0)) }),
      "pools": .object(pools.mapValues { .integer(Int64($0)) }),
      "thermal": .array(
        thermal.map {
          .object(["after": .string($0.after.unitText), "scale": .string("\($0.scale)")])
        }),
    ]
    // Omitted if there are no states, so that a profile without heat keeps its digest.
    if !states.isEmpty {
      members["states"] = .array(
        states.map {
          .object([
            "state": .string($0.state.rawValue), "scale": .string("\($0.scale)"),
            "power": .string("\($0.power)"),
          ])
        })
    }
    members["copyRate"] = copyBytesPerSecond.map { .integer($0) }
    members["heat"] = heat?.json
    return .object(members)
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

  /// Entries without a match in a pipeline, each with advice. A profile may be meant for several
  /// pipelines.
  package func notes(for pipeline: Pipeline) -> [String] {
    let stages = scale.keys.filter { $0 != Self.everyStage }
    return notes("stage", stages, among: pipeline.flattened().nodes.map(\.id))
      + notes("executor", Array(executors.keys), among: pipeline.executors.map(\.id))
      + notes("pool", Array(pools.keys), among: pipeline.pools.map(\.id))
      + notes(
        "executor", (heat?.busyMicrowatts.keys).map(Array.init) ?? [], among: servers(of: pipeline))
      + powerNotes(for: pipeline)
  }

  /// The heat of the servers that are busy would be missing, in silence.
  private func powerNotes(for pipeline: Pipeline) -> [String] {
    guard let heat, heat.busyMicrowatts[HeatModel.everyExecutor] == nil else { return [] }
    let busy = pipeline.flattened().nodes.filter(\.stage.signature.role.isServed)
      .map { $0.executor ?? $0.id }
    let names = Set(busy).sorted()
    guard !names.isEmpty, names.allSatisfy({ heat.busyMicrowatts[$0] == nil }) else { return [] }
    let shown = names.prefix(3).map { "'\($0)'" }.joined(separator: ", ")
    let others = names.count > 3 ? " and \(names.count - 3) more" : ""
    return [
      "no stage of this pipeline heats the device while it is busy: the profile '\(name)' has no "
        + "power for \(shown)\(others). Add them to its 'busy', or '\(HeatModel.everyExecutor)' for "
        + "all"
    ]
  }

  /// A stage without a shared executor has its own executor, with the stage's ID.
  private func servers(of pipeline: Pipeline) -> [String] {
    [HeatModel.everyExecutor] + pipeline.executors.map(\.id)
      + pipeline.flattened().nodes.filter(\.stage.signature.role.isServed).map(\.id)
  }

  /// Inserted nodes are named after the node that they belong to: `motion/convert`.
  private func notes(_ word: String, _ given: [String], among known: [String]) -> [String] {
    given.sorted().filter { id in !known.contains { id == $0 || id.hasPrefix("\($0)/") } }.map {
      "the profile '\(name)' names the \(word) '\($0)', which the pipeline does not have. "
        + Suggestion.advice(for: $0, among: known)
    }
  }
}
