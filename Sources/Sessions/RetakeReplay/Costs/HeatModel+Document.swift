import RetakeCore
import RetakeTimePlane

/// The form of a heat model in a device profile: docs/heat.md. Numbers are strings with their unit.
extension HeatModel {
  static let fields = [
    "ambient", "start", "nodes", "sensor", "idle", "busy", "copy", "states", "hysteresis",
  ]

  init(_ decoder: StrictDecoder<DocumentProblem>) throws {
    let fields = try decoder.object(Self.fields)
    let nodes = try Self.nodes(try fields.required("nodes"))
    self.init(
      ambient: try fields.required("ambient").temperature(),
      start: try fields["start"]?.temperature(), nodes: nodes,
      limits: try Self.limits(try fields.required("states")))
    if let sensor = fields["sensor"] {
      let id = try sensor.string()
      guard let index = nodes.firstIndex(where: { $0.id == id }) else {
        throw sensor.wrong(
          "there is no node '\(id.shortened)'",
          advice: Suggestion.advice(for: id, among: nodes.map(\.id)))
      }
      self.sensor = index
    }
    idleMicrowatts = try fields["idle"]?.power() ?? 0
    for (executor, power) in try fields.members("busy") {
      busyMicrowatts[executor] = try power.power()
    }
    if let copy = fields["copy"] {
      femtojoulesPerByte = try copy.quantity(
        "nJ/B", digits: 6, Int64(0)...Self.femtojoulesPerByteMax,
        "an energy per byte is 0 to 1000nJ/B")
    }
    if let hysteresis = fields["hysteresis"] {
      hysteresisMillidegrees = Int(
        try hysteresis.quantity("K", digits: 3, 0...50_000, "a hysteresis is 0 to 50K"))
    }
    if let problem {
      throw try fields.required("nodes").elements()[problem.node].wrong(
        problem.text, advice: "Make its capacity or its resistance larger, or join the two nodes")
    }
  }

  private static func nodes(
    _ decoder: StrictDecoder<DocumentProblem>
  ) throws -> [Node] {
    var nodes: [Node] = []
    for element in try decoder.elements() {
      let fields = try element.object(["id", "capacity", "resistance"])
      let id = try fields.required("id").string()
      guard id.isSafeName, !nodes.contains(where: { $0.id == id }) else {
        throw fields.wrong(
          "'\(id.shortened)' cannot be this node's name",
          advice: "Use a different name: up to 64 letters, digits, '-', '_' and '.'")
      }
      nodes.append(
        Node(
          id: id,
          capacity: try fields.required("capacity").quantity(
            "J/K", digits: 3, 1...capacityMax, "a heat capacity is above 0 and at most 10000J/K"),
          resistance: try fields.required("resistance").quantity(
            "K/W", digits: 3, 1...resistanceMax, "a resistance is above 0 and at most 1000K/W")))
    }
    guard (1...nodesMax).contains(nodes.count) else {
      throw decoder.wrong("a heat model has 1 to \(nodesMax) nodes, from the chip to the air")
    }
    return nodes
  }

  private static func limits(
    _ decoder: StrictDecoder<DocumentProblem>
  ) throws -> Limits {
    let fields = try decoder.object(["fair", "serious", "critical"])
    let limits = Limits(
      fair: try fields.required("fair").temperature(),
      serious: try fields.required("serious").temperature(),
      critical: try fields.required("critical").temperature())
    guard limits.fair < limits.serious, limits.serious < limits.critical else {
      throw decoder.wrong("the states begin in this order: fair, serious, critical")
    }
    return limits
  }
}

extension StrictDecoder<DocumentProblem> {
  fileprivate func power() throws -> Int64 {
    try quantity("W", digits: 6, 0...HeatModel.microwattsMax, "a power is 0 to 1000W")
  }

  func quantity(
    _ unit: String, digits: Int, _ range: ClosedRange<Int64>, _ rule: String
  ) throws -> Int64 {
    guard case .string(let text) = json,
      let value = FixedPoint.parse(text, unit: unit, digits: digits)
    else {
      throw wrong(
        "\(rule), as a string with its unit",
        advice: "Write it like \"1.5\(unit)\", with at most \(digits) digits after the point")
    }
    guard range.contains(Int64(value)) else {
      throw wrong("\(rule); '\(text.shortened)' is not", advice: "Check the unit, \(unit)")
    }
    return Int64(value)
  }
}
