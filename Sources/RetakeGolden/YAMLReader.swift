import RetakeCore
import Yams

extension JSONValue {
  /// Reads YAML as the JSON that it stands for. Keys are texts; anchors are followed by the parser.
  ///
  /// - Throws: `GoldenError.manifest`, without a file.
  package init(yaml text: String) throws(GoldenError) {
    let node: Node?
    do {
      node = try Yams.compose(yaml: text)
    } catch {
      throw wrong("this is no YAML: \(error)", at: "")
    }
    guard let node else { throw wrong("the document is empty", at: "") }
    try self.init(node, at: "", depth: 0)
  }

  /// Documents nest no deeper than this.
  private static var depthMax: Int { 16 }

  private init(_ node: Node, at pointer: String, depth: Int) throws(GoldenError) {
    guard depth <= Self.depthMax else { throw wrong("nests too deeply", at: pointer) }
    switch node {
    case .scalar(let scalar): self = Self.scalar(scalar, node)
    case .sequence(let items):
      var values: [JSONValue] = []
      for (index, item) in items.enumerated() {
        values.append(try JSONValue(item, at: "\(pointer)/\(index)", depth: depth + 1))
      }
      self = .array(values)
    case .mapping(let entries):
      var members: [String: JSONValue] = [:]
      for (key, value) in entries {
        guard let name = key.scalar?.string else { throw wrong("a key is no text", at: pointer) }
        let place = "\(pointer)/\(name.pointerEscaped)"
        guard members[name] == nil else { throw wrong("the key is there twice", at: place) }
        members[name] = try JSONValue(value, at: place, depth: depth + 1)
      }
      self = .object(members)
    case .alias: throw wrong("aliases are not used here", at: pointer)
    }
  }

  private static func scalar(_ scalar: Node.Scalar, _ node: Node) -> JSONValue {
    guard scalar.style == .plain else { return .string(scalar.string) }
    switch scalar.string {
    case "", "~", "null": return .null
    case "true": return .bool(true)
    case "false": return .bool(false)
    default: break
    }
    if let integer = Int64(scalar.string) { return .integer(integer) }
    let isNumber = scalar.string.utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || [0x2b, 0x2d, 0x2e, 0x45, 0x65].contains(byte)
    }
    if isNumber, scalar.string.utf8.count < 32, let number = Double(scalar.string) {
      return .number(number)
    }
    return .string(scalar.string)
  }
}
