package import RetakeCore
import Yams

extension JSONValue {
  /// Reads YAML as the equivalent JSON, with the types of YAML 1.2's core schema; `nil` for an
  /// empty document. Keys are strings. Anchors are rejected, so that a small input cannot become a
  /// huge document.
  package init?(yaml text: String) throws {
    // Before Yams sees the document: it would expand aliases while it composes.
    try YAMLOutline.check(text)
    let root: Node?
    do {
      // Without Yams' rules for types, which are YAML 1.1's and compare each key with seven patterns,
      // and without its environment variable for the encoding.
      root = try Yams.compose(yaml: text, .basic, .default, .utf8)
    } catch {
      throw DocumentProblem(yaml: error)
    }
    guard let root else { return nil }
    self = try YAMLReader().value(of: root, at: "", depth: 0)
  }
}

extension StrictDecoder {
  /// Parses a YAML document. An empty one is read as an empty object.
  package init(yaml text: String) throws {
    do {
      self.init(try JSONValue(yaml: text) ?? .object([:]))
    } catch let error as DocumentProblem {
      throw Failure(error)
    }
  }
}

extension DocumentProblem {
  fileprivate init(yaml error: any Error) {
    var advice: String?
    let detail: String
    switch error as? YamlError {
    case .duplicatedKeysInMapping(let keys, let context)?:
      let list = keys.sorted().map { "'\($0)'" }.joined(separator: ", ")
      detail = "\(list) comes twice, in the object at line \(context.mark.line)"
      advice = "Remove one of them"
    case .parser(_, let problem, _, _)? where problem.contains("nesting level"):
      detail = "nests too deeply"
    case .scanner(_, let problem, let mark, _)?, .parser(_, let problem, let mark, _)?,
      .composer(_, let problem, let mark, _)?:
      detail = "this is not YAML: line \(mark.line), column \(mark.column): \(problem)"
    case .reader(let problem, _, _, _)?: detail = "this is not YAML: \(problem)"
    default: detail = "this is not YAML: \("\(error)".prefix(200))"
    }
    self.init(.malformed(detail, advice: advice), at: "")
  }
}

/// Reads one document.
private struct YAMLReader {
  func value(
    of node: Node, at pointer: String, depth: Int
  ) throws -> JSONValue {
    guard depth <= YAMLOutline.depthMax else {
      throw Self.problem("nests too deeply", at: pointer)
    }
    switch node {
    case .scalar(let scalar): return Self.value(of: scalar)
    case .sequence(let items):
      var values: [JSONValue] = []
      for (index, item) in items.enumerated() {
        values.append(try value(of: item, at: "\(pointer)/\(index)", depth: depth + 1))
      }
      return .array(values)
    case .mapping(let entries):
      var members: [String: JSONValue] = [:]
      for (key, item) in entries {
        guard let name = key.scalar?.string else {
          throw Self.problem("a key is not a string", at: pointer)
        }
        let place = "\(pointer)/\(name.pointerEscaped)"
        // Yams compares keys with their tags, so `1` and `!!int 1` are two keys for it, but one
        // name here.
        guard members[name] == nil else {
          throw Self.problem("the key is there twice", at: place)
        }
        members[name] = try value(of: item, at: place, depth: depth + 1)
      }
      return .object(members)
    case .alias:
      throw Self.problem(
        "anchors and aliases are not read", advice: "Write the value out in each place",
        at: pointer)
    }
  }

  private static func problem(
    _ detail: String, advice: String? = nil, at pointer: String
  ) -> DocumentProblem {
    DocumentProblem(.malformed(detail, advice: advice), at: pointer)
  }

  private static func value(of scalar: Node.Scalar) -> JSONValue {
    // In YAML's core schema a quoted scalar is always a string.
    guard scalar.style == .plain else { return .string(scalar.string) }
    switch scalar.string {
    case "", "~", "null": return .null
    case "true": return .bool(true)
    case "false": return .bool(false)
    default: break
    }
    if let integer = Int64(scalar.string) { return .integer(integer) }
    // Swift also reads `inf`, `nan` and hexadecimal floats, which JSON does not have.
    let isNumber = scalar.string.utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || [0x2b, 0x2d, 0x2e, 0x45, 0x65].contains(byte)
    }
    if isNumber, scalar.string.utf8.count < 32, let number = Double(scalar.string) {
      return .number(number)
    }
    return .string(scalar.string)
  }
}
