import RetakeCompare
import RetakeCore
import RetakeGolden
import RetakeReplay

extension ProjectReader {
  /// Where the virtual costs of a case come from. All except declared costs need `redecide`.
  func costs(
    _ fields: Fields, of definition: inout CaseDefinition, at pointer: String
  ) throws(ProjectProblem) {
    definition.strictCosts = try fields.bool("strictCosts") ?? false
    // `none` is how golden.yml names the costs of `lossless`; in that mode it may be copied from
    // there.
    if let text = try fields.string("costs"), text != "none" || definition.mode != .lossless {
      guard let choice = CostChoice(parsing: text) else {
        throw ProjectProblem(
          "costs '\(text)' cannot be used here", advice: "Write one of: \(CostChoice.forms)",
          at: "\(pointer)/costs")
      }
      definition.costs = choice
    }
    if definition.costs.needsRedecide {
      // A mode that is not written follows from the costs. Only a written `lossless` contradicts
      // them.
      guard fields.value("mode") == nil || definition.mode == .redecide else {
        throw ProjectProblem(
          "in mode lossless nothing has a cost", advice: "Write: mode: redecide",
          at: "\(pointer)/costs")
      }
      definition.mode = .redecide
    }
    guard !definition.strictCosts || definition.costs.hasTape else {
      throw ProjectProblem(
        "only a tape can lack a cost", advice: "Write: costs: tape, or leave out strictCosts",
        at: "\(pointer)/strictCosts")
    }
  }

  func compareRules(_ json: JSONValue) throws(ProjectProblem) -> CompareRules {
    var rules: [String: SinkRule] = [:]
    for (sink, json) in try members(json, at: "/compare") {
      let place = "/compare/\(sink.pointerEscaped)"
      let fields = try Fields(json, at: place, keys: SinkRule.CodingKeys.allCases.map(\.rawValue))
      // A rule with the name of a mode has that mode unless it sets another one.
      rules[sink] = try rule(fields, SinkRule.Mode(rawValue: sink) ?? .boxes, at: place)
    }
    return CompareRules(rules)
  }

  private func rule(
    _ fields: Fields, _ mode: SinkRule.Mode, at pointer: String
  ) throws(ProjectProblem) -> SinkRule {
    var rule = SinkRule(mode: mode)
    if let text = try fields.string("mode") {
      rule.mode = try word(text, SinkRule.Mode.self, "mode", at: "\(pointer)/mode")
    }
    if let text = try fields.string("order") {
      rule.order = try word(text, SinkRule.Order.self, "order", at: "\(pointer)/order")
    }
    for (key, path) in SinkRule.tolerances {
      guard let value = try tolerance(fields, key.rawValue, at: pointer) else { continue }
      rule[keyPath: path] = value
    }
    for (key, path) in SinkRule.counts {
      guard let count = fields.value(key.rawValue) else { continue }
      rule[keyPath: path] = try whole(count, "a count", at: "\(pointer)/\(key.rawValue)")
    }
    if let problem = rule.problem {
      // The text of a rule's problem begins with the key that it is about.
      let key = problem.prefix { $0 != " " }
      throw ProjectProblem(
        problem, advice: "Write, for example: \(key): \(key == "pictureEvery" ? "30" : "0.5")",
        at: "\(pointer)/\(key)")
    }
    return rule
  }

  func budgets(_ fields: Fields) throws(ProjectProblem) -> GoldenManifest.Budgets {
    var budgets = GoldenManifest.Budgets()
    if let most = fields.value("droppedMax") {
      budgets.droppedMax = try whole(most, "a budget", at: "/budgets/droppedMax")
    }
    budgets.latencyMax = try time(fields, "latencyMax")
    budgets.latencyP99 = try time(fields, "latencyP99")
    return budgets
  }

  /// A budget of virtual time, in nanoseconds.
  private func time(_ fields: Fields, _ key: String) throws(ProjectProblem) -> Int? {
    switch fields.value(key) {
    // An error of its own: "must be a string" would not tell that the unit is missing.
    case .integer, .number:
      throw ProjectProblem(
        "a duration has a unit",
        advice: "Write, for example: \(key): \(fields.value(key)?.canonicalText ?? "120")ms",
        at: "/budgets/\(key)")
    default: break
    }
    guard let text = try fields.string(key) else { return nil }
    guard let duration = Duration(parsing: text) else {
      throw ProjectProblem(
        "'\(text)' is not a duration", advice: "Write, for example: \(key): 120ms",
        at: "/budgets/\(key)")
    }
    return Int(duration.nanoseconds)
  }

  /// Quanta by field. Each is a power of ten.
  func quanta(_ json: JSONValue, at pointer: String) throws(ProjectProblem) -> [String: Double] {
    let keys = Quantisation.CodingKeys.allCases.map(\.rawValue)
    let fields = try Fields(json, at: pointer, keys: keys)
    var result: [String: Double] = [:]
    for key in keys {
      guard let quantum = try tolerance(fields, key, at: pointer) else { continue }
      do throws(ResultTextError) {
        // Tried as the step of a box, because the same steps are allowed for all three.
        _ = try Quantisation(box: quantum)
      } catch {
        throw ProjectProblem(
          "a quantum is a power of ten, from 1 to 0.000000001",
          advice: "Write, for example: \(key): 0.01", at: "\(pointer)/\(key)")
      }
      result[key] = quantum
    }
    return result
  }

  /// A number that is not negative; `nil` when the key is absent.
  func tolerance(
    _ fields: Fields, _ key: String, at pointer: String
  ) throws(ProjectProblem) -> Double? {
    let number: Double
    switch fields.value(key) {
    case nil: return nil
    case .integer(let value)?: number = Double(value)
    case .number(let value)?: number = value
    case let other?:
      throw ProjectProblem("must be a number, is \(other.kindText)", at: "\(pointer)/\(key)")
    }
    guard number >= 0, number.isFinite else {
      throw ProjectProblem("must be 0 or more", at: "\(pointer)/\(key)")
    }
    return number
  }

  /// A whole number that is not negative.
  func whole(
    _ json: JSONValue, _ what: String, at pointer: String
  ) throws(ProjectProblem) -> Int {
    guard case .integer(let value) = json, value >= 0, let number = Int(exactly: value) else {
      throw ProjectProblem("\(what) is a whole number, 0 or more", at: pointer)
    }
    return number
  }
}
