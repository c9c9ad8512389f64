import RetakeCore
import Yams

extension JSONValue {
  /// The content of a YAML document, with the types that YAML 1.2's core schema gives.
  ///
  /// - Throws: `ProjectProblem` for keys that are no texts or come twice.
  init(yaml node: Node) throws {
    try self.init(yaml: node, at: "", depth: 0)
  }

  private static let depthMax = 64

  private init(yaml node: Node, at pointer: String, depth: Int) throws {
    guard depth < Self.depthMax else { throw ProjectProblem("nested too deeply", at: pointer) }
    switch node {
    case .scalar(let scalar): self = Self.scalar(node, text: scalar.string)
    case .sequence(let sequence):
      self = .array(
        try sequence.enumerated().map {
          try JSONValue(yaml: $0.element, at: "\(pointer)/\($0.offset)", depth: depth + 1)
        })
    case .mapping(let mapping):
      var members: [String: JSONValue] = [:]
      for (key, value) in mapping {
        guard let name = key.scalar?.string else {
          throw ProjectProblem("a key must be a text", at: pointer)
        }
        let place = "\(pointer)/\(name.pointerEscaped)"
        guard members[name] == nil else { throw ProjectProblem("'\(name)' comes twice", at: place) }
        members[name] = try JSONValue(yaml: value, at: place, depth: depth + 1)
      }
      self = .object(members)
    case .alias: throw ProjectProblem("aliases are not read", at: pointer)
    }
  }

  private static func scalar(_ node: Node, text: String) -> JSONValue {
    if let value = node.bool { return .bool(value) }
    if let value = node.int { return .integer(Int64(value)) }
    if let value = node.float, value.isFinite { return .number(value) }
    return node.null == nil ? .string(text) : .null
  }
}
