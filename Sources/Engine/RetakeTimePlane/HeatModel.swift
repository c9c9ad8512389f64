package import RetakeCore

/// How a device heats up under load and cools again: a chain of heat capacities between the
/// processor and the air around the device. docs/heat.md has the formulas and their sources.
///
/// All numbers are integers, so a run has the same temperatures on every machine.
package struct HeatModel: Hashable, Sendable {
  /// One body of the chain, which has the same temperature everywhere: a lumped capacity.
  package struct Node: Hashable, Sendable {
    package var id: String
    /// Heat that makes it one kelvin warmer, in millijoules per kelvin.
    package var capacity: Int64
    /// Towards the next node, and of the last node towards the air, in millikelvin per watt.
    package var resistance: Int64

    package init(id: String, capacity: Int64, resistance: Int64) {
      (self.id, self.capacity, self.resistance) = (id, capacity, resistance)
    }
  }

  /// Where each state begins.
  package struct Limits: Hashable, Sendable {
    package var fair: Temperature
    package var serious: Temperature
    package var critical: Temperature

    package init(fair: Temperature, serious: Temperature, critical: Temperature) {
      (self.fair, self.serious, self.critical) = (fair, serious, critical)
    }

    package func state(at temperature: Temperature) -> ThermalState {
      if temperature >= critical { return .critical }
      if temperature >= serious { return .serious }
      return temperature >= fair ? .fair : .nominal
    }
  }

  /// The key of `busyMicrowatts` for every executor without its own key.
  package static let everyExecutor = "*"
  package static let nodesMax = 4
  /// Millijoules per kelvin; together with the next two it keeps all products within 127 bits.
  package static let capacityMax: Int64 = 10_000_000
  /// Millikelvin per watt.
  package static let resistanceMax: Int64 = 1_000_000
  package static let microwattsMax: Int64 = 1_000_000_000
  package static let femtojoulesPerByteMax: Int64 = 1_000_000_000
  /// The smallest time constant of a node and a resistance next to it, in microseconds: two ticks.
  /// Below it, a tick would move more heat than there is a difference.
  package static let timeConstantMin: Int64 = 200_000

  package var ambient: Temperature
  /// Of all nodes when the run begins.
  package var start: Temperature
  /// The first is where the heat is made.
  package var nodes: [Node]
  /// The index of the node whose temperature decides.
  package var sensor: Int
  /// Power whatever the pipeline does: the screen, the camera, the system.
  package var idleMicrowatts: Int64
  /// Power of one busy server in addition, by executor ID.
  package var busyMicrowatts: [String: Int64]
  /// Energy of each byte that is copied.
  package var femtojoulesPerByte: Int64
  package var limits: Limits
  /// A state or a rule ends this far below its limit.
  package var hysteresisMillidegrees: Int

  package init(
    ambient: Temperature, start: Temperature? = nil, nodes: [Node], sensor: Int = 0,
    idleMicrowatts: Int64 = 0, busyMicrowatts: [String: Int64] = [:],
    femtojoulesPerByte: Int64 = 0, limits: Limits,
    hysteresisMillidegrees: Int = DeviceState.hysteresisMillidegrees
  ) {
    self.ambient = ambient
    self.start = start ?? ambient
    self.nodes = nodes
    self.sensor = sensor
    self.idleMicrowatts = idleMicrowatts
    self.busyMicrowatts = busyMicrowatts
    self.femtojoulesPerByte = femtojoulesPerByte
    self.limits = limits
    self.hysteresisMillidegrees = hysteresisMillidegrees
  }

  package func busyMicrowatts(of executor: String) -> Int64 {
    busyMicrowatts[executor] ?? busyMicrowatts[Self.everyExecutor] ?? 0
  }

  /// The node's index and the reason why the chain cannot be computed; `nil` if it can.
  package var problem: (node: Int, text: String)? {
    for (index, node) in nodes.enumerated() {
      let neighbors =
        [node.capacity] + (index + 1 < nodes.count ? [nodes[index + 1].capacity] : [])
      // mJ/K × mK/W = µs.
      for capacity in neighbors where capacity * node.resistance < Self.timeConstantMin {
        return (
          index,
          "'\(node.id)' follows its neighbor faster than the model's tick of 100 ms: capacity × "
            + "resistance must be at least 0.2 s"
        )
      }
    }
    return nil
  }

  var json: JSONValue {
    .object([
      "ambient": .string("\(ambient)"), "start": .string("\(start)"),
      "nodes": .array(
        nodes.map {
          .object([
            "id": .string($0.id), "capacity": .integer($0.capacity),
            "resistance": .integer($0.resistance),
          ])
        }),
      "sensor": .integer(Int64(sensor)), "idle": .integer(idleMicrowatts),
      "busy": .object(busyMicrowatts.mapValues { .integer($0) }),
      "copy": .integer(femtojoulesPerByte),
      "states": .array(
        [limits.fair, limits.serious, limits.critical].map { .string("\($0)") }),
      "hysteresis": .integer(Int64(hysteresisMillidegrees)),
    ])
  }
}
