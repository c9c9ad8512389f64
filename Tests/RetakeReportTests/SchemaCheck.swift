import Foundation
import RetakeCore
import RetakeTestSupport

/// The part of JSON Schema that Retake's own schema uses: enough to report where a document
/// violates it.
struct SchemaCheck {
  var schema: JSONValue
  private(set) var problems: [String] = []

  init(schema: JSONValue) {
    self.schema = schema
  }

  /// The schema that users read.
  static func published() throws -> Data {
    try Data(contentsOf: packageRoot.appending(path: "docs/formats/report.schema.json"))
  }

  static func ofReports() throws -> SchemaCheck {
    SchemaCheck(schema: try JSONValue(parsing: published()))
  }

  mutating func check(_ value: JSONValue) {
    check(value, by: schema, at: "")
  }

  private mutating func check(_ value: JSONValue, by rule: JSONValue, at path: String) {
    if case .string(let reference)? = rule["$ref"] {
      guard let target = definition(reference) else {
        problems.append("\(path): \(reference) is not defined")
        return
      }
      return check(value, by: target, at: path)
    }
    if let constant = rule["const"], constant != value {
      problems.append("\(path): not \(constant)")
    }
    if case .array(let allowed)? = rule["enum"], !allowed.contains(value) {
      problems.append("\(path): \(value.canonicalText) is not in the enum")
    }
    if case .array(let choices)? = rule["anyOf"] { checkAny(value, of: choices, at: path) }
    if case .string(let type)? = rule["type"], !matches(value, type) {
      problems.append("\(path): \(value.kindText) is not \(type)")
      return
    }
    if case .integer(let least)? = rule["minimum"], case .integer(let number) = value,
      number < least
    {
      problems.append("\(path): \(number) is below \(least)")
    }
    checkMembers(value, by: rule, at: path)
    if case .array(let items) = value, let itemRule = rule["items"] {
      for (index, item) in items.enumerated() { check(item, by: itemRule, at: "\(path)/\(index)") }
    }
  }

  private mutating func checkMembers(_ value: JSONValue, by rule: JSONValue, at path: String) {
    guard case .object(let members) = value else { return }
    if case .array(let required)? = rule["required"] {
      for case .string(let key) in required where members[key] == nil {
        problems.append("\(path): \(key) is missing")
      }
    }
    for (key, member) in members.sorted(by: { $0.key < $1.key }) {
      if let memberRule = rule["properties"]?[key] {
        check(member, by: memberRule, at: "\(path)/\(key)")
      } else if rule["additionalProperties"] == .bool(false) {
        problems.append("\(path): \(key) is unknown")
      } else if let other = rule["additionalProperties"], case .object = other {
        check(member, by: other, at: "\(path)/\(key)")
      }
    }
  }

  private mutating func checkAny(_ value: JSONValue, of choices: [JSONValue], at path: String) {
    for choice in choices {
      var attempt = self
      attempt.problems = []
      attempt.check(value, by: choice, at: path)
      if attempt.problems.isEmpty { return }
    }
    problems.append("\(path): no choice of anyOf fits")
  }

  private func definition(_ reference: String) -> JSONValue? {
    guard reference.hasPrefix("#/$defs/") else { return nil }
    return schema["$defs"]?[String(reference.dropFirst("#/$defs/".count))]
  }

  private func matches(_ value: JSONValue, _ type: String) -> Bool {
    switch (type, value) {
    case ("object", .object), ("array", .array), ("string", .string), ("boolean", .bool): true
    case ("null", .null), ("integer", .integer), ("number", .integer), ("number", .number): true
    default: false
    }
  }
}
