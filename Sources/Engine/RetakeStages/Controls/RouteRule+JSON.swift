import RetakeCore
import RetakeGraph

/// The form of a rule in a document, one of:
///
/// ```
/// {"detections": {"countMin": 1, "countMax": 5, "scoreMin": 0.5, "label": "person"}}
/// {"scalar": {"name": "mean", "min": 10, "max": 200}}
/// {"class": {"label": "red", "scoreMin": 0.5}}
/// ```
///
/// `countMin` defaults to 1; `name`, `class.label` and one of `min` and `max` are required.
extension RouteRule {
  private static let words = ["class", "detections", "scalar"]

  var json: JSONValue {
    switch self {
    case .detections(let countMin, let countMax, let scoreMin, let label):
      var members: [String: JSONValue] = ["countMin": .integer(Int64(countMin))]
      // A bound that was not given stays absent, so that a rule is written as it was read.
      members["countMax"] = countMax.map { .integer(Int64($0)) }
      members["scoreMin"] = scoreMin.map { .number($0) }
      members["label"] = label.map { .string($0) }
      return .object(["detections": .object(members)])
    case .scalar(let name, let min, let max):
      var members: [String: JSONValue] = ["name": .string(name)]
      members["min"] = min.map { .number($0) }
      members["max"] = max.map { .number($0) }
      return .object(["scalar": .object(members)])
    case .classified(let label, let scoreMin):
      var members: [String: JSONValue] = ["label": .string(label)]
      members["scoreMin"] = scoreMin.map { .number($0) }
      return .object(["class": .object(members)])
    }
  }

  /// - Throws: `OptionProblem` with the position within the options.
  init(json: JSONValue) throws {
    let rule = try StrictDecoder<OptionProblem>(json).object(Self.words)
    let given = Self.words.filter { rule[$0] != nil }
    guard given.count == 1, let word = given.first, let content = rule[word] else {
      throw rule.wrong(
        given.isEmpty ? "a route has a rule" : "a route has one rule, not \(given.count)",
        advice: "For example {\"detections\": {\"countMin\": 1}}")
    }
    switch word {
    case "detections":
      let fields = try content.object(["countMin", "countMax", "scoreMin", "label"])
      self = .detections(
        countMin: try fields["countMin"]?.integer() ?? 1,
        countMax: try fields["countMax"]?.integer(), scoreMin: try fields["scoreMin"]?.number(),
        label: try fields["label"]?.string())
    case "scalar":
      let fields = try content.object(["name", "min", "max"])
      self = .scalar(
        name: try fields.required("name").string(), min: try fields["min"]?.number(),
        max: try fields["max"]?.number())
    default:
      let fields = try content.object(["label", "scoreMin"])
      self = .classified(
        label: try fields.required("label").string(), scoreMin: try fields["scoreMin"]?.number())
    }
  }

  /// Rejects rules that no value, or every value, would match.
  func check() throws {
    switch self {
    case .detections(let countMin, let countMax, let scoreMin, _):
      guard countMin >= 0, countMin <= countMax ?? .max else {
        throw OptionProblem(
          pointer: "/detections/\(countMin < 0 ? "countMin" : "countMax")",
          message: "the counts are 0 or more, the smaller first")
      }
      guard countMin > 0 || countMax != nil else {
        throw OptionProblem(
          pointer: "/detections/countMin", message: "any number of detections matches",
          advice: "Write a countMin of 1 or more, or a countMax")
      }
      try Self.check([scoreMin], at: "/detections/scoreMin")
    case .scalar(_, let min, let max):
      guard min != nil || max != nil else {
        throw OptionProblem(
          pointer: "/scalar", message: "the rule has no bound", advice: "Write min, max or both")
      }
      // Before the comparison, which is false for NaN and would blame the order of the bounds.
      try Self.check([min, max], at: "/scalar")
      guard min ?? -.infinity <= max ?? .infinity else {
        throw OptionProblem(pointer: "/scalar/max", message: "'max' is below 'min'")
      }
    case .classified(_, let scoreMin): try Self.check([scoreMin], at: "/class/scoreMin")
    }
  }

  private static func check(_ numbers: [Double?], at pointer: String) throws {
    guard numbers.allSatisfy({ $0?.isFinite ?? true }) else {
      throw OptionProblem(pointer: pointer, message: "a bound is a finite number")
    }
  }
}
