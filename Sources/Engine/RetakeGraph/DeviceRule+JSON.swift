package import RetakeCore

/// The form of rules in a document: `{"thermal": "serious", "fps": 15}`,
/// `{"battery": {"below": 20, "charging": false}, "fps": 10}`.
extension DeviceRule {
  /// The largest number of frames per second.
  package static let fpsMax = 1_000.0

  package var json: JSONValue {
    // Assigning `nil` to a key leaves it out: a document refuses an explicit `null`.
    var members: [String: JSONValue] = ["fps": .number(fps)]
    members["thermal"] = thermal.map { .string($0.rawValue) }
    members["temperature"] = temperature.map { .string($0.description) }
    members["memory"] = memory.map { .string($0.rawValue) }
    members["battery"] = battery?.json
    members["orientation"] = orientation.map { .string($0.rawValue) }
    return .object(members)
  }

  /// - Throws: `OptionProblem` for unknown keys, for values out of range, and for a rule without a
  ///   condition.
  package init(_ decoder: StrictDecoder<OptionProblem>) throws {
    let fields = try decoder.object([
      "thermal", "temperature", "memory", "battery", "orientation", "fps",
    ])
    guard let rate = fields["fps"] else {
      throw fields.wrong("'fps' is missing", advice: "Say how many frames a second")
    }
    let fps = try rate.number()
    guard fps > 0, fps <= Self.fpsMax else {
      throw rate.wrong(
        "'fps' must be above 0 and at most 1000, is \(fps)",
        advice: "A throttle never stops all frames; write a small rate such as 0.1")
    }
    self.init(
      thermal: try fields["thermal"]?.choice("a state"),
      temperature: try fields["temperature"]?.temperature(),
      memory: try fields["memory"]?.choice("a state"),
      battery: try fields["battery"].map(BatteryCondition.init(_:)),
      orientation: try fields["orientation"]?.choice("a state"), fps: fps)
    // Such a rule would match no state and have no effect.
    guard self != DeviceRule(fps: fps) else {
      throw fields.wrong(
        "the rule has no condition",
        advice: "Name thermal, temperature, memory, battery or orientation")
    }
  }
}

extension DeviceRule.BatteryCondition {
  fileprivate var json: JSONValue {
    var members: [String: JSONValue] = [:]
    members["below"] = below.map { .integer(Int64($0)) }
    members["charging"] = charging.map { .bool($0) }
    members["lowPower"] = lowPower.map { .bool($0) }
    return .object(members)
  }

  fileprivate init(_ decoder: StrictDecoder<OptionProblem>) throws {
    let fields = try decoder.object(["below", "charging", "lowPower"])
    self.init(
      // No level is below 0, so a rule with 0 would never match.
      below: try fields["below"]?.integer(in: 1...100, "'below' is 1 to 100 percent"),
      charging: try fields["charging"]?.bool(), lowPower: try fields["lowPower"]?.bool())
    guard below != nil || charging != nil || lowPower != nil else {
      throw fields.wrong(
        "the battery has no condition", advice: "Name below, charging or lowPower")
    }
  }
}

/// Options that are read key by key.
extension OptionProblem: DocumentFailure {
  package init(_ problem: DocumentProblem) {
    self.init(pointer: problem.pointer, message: problem.message, advice: problem.advice)
  }
}
