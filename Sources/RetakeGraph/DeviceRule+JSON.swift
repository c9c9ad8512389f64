import RetakeCore

/// The form of rules in a document: `{"thermal": "serious", "fps": 15}`,
/// `{"battery": {"below": 20, "charging": false}, "fps": 10}`.
extension DeviceRule {
  /// The largest number of frames per second.
  package static let fpsMax = 1_000.0

  package var json: JSONValue {
    // Assigning `nil` to a key leaves it out: a document refuses an explicit `null`.
    var members: [String: JSONValue] = ["fps": .number(fps)]
    members["thermal"] = thermal.map { .string($0.rawValue) }
    members["memory"] = memory.map { .string($0.rawValue) }
    members["battery"] = battery?.json
    members["orientation"] = orientation.map { .string($0.rawValue) }
    return .object(members)
  }

  /// - Throws: `OptionProblem` for unknown keys, for values out of range, and for a rule without a
  ///   condition.
  package init(json: JSONValue, at pointer: String) throws(OptionProblem) {
    let fields = try DocumentFields<OptionProblem>(
      json, at: pointer, keys: ["thermal", "memory", "battery", "orientation", "fps"])
    guard let fps = try fields.number("fps") else {
      throw OptionProblem(
        pointer: pointer, message: "'fps' is missing", advice: "Say how many frames a second")
    }
    guard fps > 0, fps <= Self.fpsMax else {
      throw OptionProblem(
        pointer: "\(pointer)/fps", message: "'fps' must be above 0 and at most 1000, is \(fps)",
        advice: "A throttle never stops all frames; write a small rate such as 0.1")
    }
    self.init(
      thermal: try fields.choice("thermal", at: pointer),
      memory: try fields.choice("memory", at: pointer),
      battery: try fields.value("battery").map { value throws(OptionProblem) in
        try BatteryCondition(json: value, at: "\(pointer)/battery")
      }, orientation: try fields.choice("orientation", at: pointer), fps: fps)
    // Such a rule would match no state and have no effect.
    guard thermal != nil || memory != nil || battery != nil || orientation != nil else {
      throw OptionProblem(
        pointer: pointer, message: "the rule has no condition",
        advice: "Name thermal, memory, battery or orientation")
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

  fileprivate init(json: JSONValue, at pointer: String) throws(OptionProblem) {
    let fields = try DocumentFields<OptionProblem>(
      json, at: pointer, keys: ["below", "charging", "lowPower"])
    self.init(
      below: try fields.integer("below"), charging: try fields.bool("charging"),
      lowPower: try fields.bool("lowPower"))
    // No level is below 0, so a rule with 0 would never match.
    guard below.map({ (1...100).contains($0) }) ?? true else {
      throw OptionProblem(
        pointer: "\(pointer)/below", message: "'below' is 1 to 100 percent")
    }
    guard below != nil || charging != nil || lowPower != nil else {
      throw OptionProblem(
        pointer: pointer, message: "the battery has no condition",
        advice: "Name below, charging or lowPower")
    }
  }
}

extension DocumentFields<OptionProblem> {
  fileprivate func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ key: String, at pointer: String
  ) throws(OptionProblem) -> Choice? {
    guard let word = try string(key) else { return nil }
    guard let choice = Choice(rawValue: word) else {
      throw OptionProblem(
        pointer: "\(pointer)/\(key)", message: "'\(word)' is not a state",
        advice: Suggestion.advice(for: word, among: Choice.allCases.map(\.rawValue)))
    }
    return choice
  }
}

/// Options that are read key by key.
extension OptionProblem: DocumentFailure {
  package init(_ problem: DocumentProblem) {
    self.init(pointer: problem.pointer, message: problem.message, advice: problem.advice)
  }
}
