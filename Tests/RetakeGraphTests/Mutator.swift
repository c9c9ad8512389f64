import RetakeCore
import RetakeTestSupport

/// Damages pipeline documents, in the same way for the same seed.
struct Mutator {
  var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  /// Bytes are changed, removed, inserted, truncated or duplicated elsewhere.
  mutating func damage(_ bytes: inout [UInt8]) {
    let at = random.pick(0...bytes.count - 1)
    switch random.pick(0...4) {
    case 0: bytes[at] = UInt8(truncatingIfNeeded: random.next())
    case 1: bytes.remove(at: at)
    case 2: bytes.insert(random.pick(Array("{}[]\",:0-9e.~/\\".utf8)), at: at)
    case 3: bytes.removeLast(min(bytes.count - 1, random.pick(1...40)))
    default:
      let end = min(bytes.count, at + random.pick(1...60))
      bytes.insert(contentsOf: bytes[at..<end], at: random.pick(0...bytes.count - 1))
    }
    if bytes.isEmpty { bytes = [0x7b] }
  }

  /// One value inside is replaced, removed, renamed or duplicated.
  mutating func change(_ value: JSONValue) -> JSONValue {
    switch value {
    case .object(var members) where !members.isEmpty && random.chance(85):
      let key = random.pick(members.keys.sorted())
      let member = members[key] ?? .null
      switch random.pick(0...9) {
      case 0: members[key] = nil
      case 1:
        members[key] = nil
        members[random.pick(Self.words)] = member
      case 2: members[random.pick(Self.words)] = random.pick(Self.values)
      default: members[key] = change(member)
      }
      return .object(members)
    case .array(var values) where !values.isEmpty && random.chance(85):
      let index = random.pick(0...values.count - 1)
      switch random.pick(0...9) {
      case 0: values.remove(at: index)
      case 1: values.append(values[index])
      case 2: values.swapAt(index, random.pick(0...values.count - 1))
      default: values[index] = change(values[index])
      }
      return .array(values)
    default: return random.pick(Self.values)
    }
  }

  /// A key with its value moves from one object of the document to another.
  mutating func moveKey(_ document: JSONValue) -> JSONValue {
    let places = Self.places(of: document)
    let from = random.pick(places)
    guard case .object(let members) = document.value(at: from), !members.isEmpty else {
      return document
    }
    let key = random.pick(members.keys.sorted())
    let to = random.pick(places)
    return document.replacing(at: from) { value in
      guard case .object(var members) = value else { return value }
      members[key] = nil
      return .object(members)
    }.replacing(at: to) { value in
      guard case .object(var others) = value else { return value }
      others[key] = members[key]
      return .object(others)
    }
  }

  /// An edge leads elsewhere, is added, removed or reversed, or has another policy and capacity; or
  /// a node has the kind of another node.
  mutating func rewire(_ document: JSONValue) -> JSONValue {
    guard case .array(var edges)? = document["edges"], case .array(var nodes)? = document["nodes"],
      !edges.isEmpty, !nodes.isEmpty, case .object(var members) = document
    else { return document }
    let index = random.pick(0...edges.count - 1)
    switch random.pick(0...6) {
    case 0: edges[index] = edges[index].with("to", .string(end(nodes, "to")))
    case 1: edges[index] = edges[index].with("from", .string(end(nodes, "from")))
    case 2: edges.remove(at: index)
    case 3:
      edges.append(
        .object(["from": .string(end(nodes, "from")), "to": .string(end(nodes, "to"))]))
    case 4:
      edges[index] = edges[index].with("to", edges[index]["from"]).with("from", edges[index]["to"])
    case 5:
      let other = random.pick(0...nodes.count - 1)
      let kind = nodes[other]["kind"]
      nodes[other] = nodes[other].with("kind", random.pick(nodes)["kind"])
        .with("options", random.chance(50) ? nil : nodes[other]["options"])
      if kind == .string("forEach") { nodes[other] = nodes[other].with("body", nil) }
    default:
      edges[index] = edges[index].with("policy", .string(random.pick(Self.policies)))
        .with("capacity", random.chance(50) ? .integer(Int64(random.pick(0...4))) : nil)
    }
    members["edges"] = .array(edges)
    members["nodes"] = .array(nodes)
    return .object(members)
  }

  /// A node of the document, with one of its ports if it has any.
  private mutating func end(_ nodes: [JSONValue], _ key: String) -> String {
    let node = random.pick(nodes)
    guard case .string(let id)? = node["id"] else { return "x" }
    guard case .array(let ports)? = node["options"]?["ports"], random.chance(80),
      case .string(let port) = random.pick(ports)
    else { return id }
    return "\(id).\(port)"
  }

  /// The pointers of all objects.
  private static func places(of document: JSONValue) -> [[String]] {
    switch document {
    case .object(let members):
      [[]]
        + members.keys.sorted().flatMap { key in
          places(of: members[key] ?? .null).map { [key] + $0 }
        }
    case .array(let values):
      values.enumerated().flatMap { index, value in places(of: value).map { ["\(index)"] + $0 } }
    default: []
    }
  }

  private static let policies = ["block", "dropNewest", "dropOldest", "replace", "drop", "fail"]

  private static let words = [
    "id", "kind", "options", "cost", "fixed", "p50", "from", "to", "capacity", "policy", "v",
    "grey", "motion", "camera", "a/b", "", "é", "concurrency", "pinned", "fallback", "timeout",
    "pool",
    "hold", "body", "output", "nodes", "edges", "ports", "mode", "frames", "each", "pairs",
    "pairs.frame", "split.few", "crop", "join", "convert", "executor", "precision",
  ]

  private static let values: [JSONValue] =
    words.map { .string($0) } + [
      .null, .bool(true), .integer(0), .integer(-1), .integer(1), .integer(.max), .integer(.min),
      .number(0.5), .number(1e300), .array([]), .object([:]), .string("45ms"),
      .string("999999999s"),
      .string("replace"), .string("dropOldest"), .string("session"), .string("results"),
      .string("brightness"), .string("vision"), .string(String(repeating: "x", count: 70)),
      .object(["fixed": .string("1ms")]), .object(["uniform": .array([.string("1ms")])]),
      .string("join"), .string("latest"), .string("forEach"), .string("sample"), .string("split"),
      .string("labels"), .string("view"), .string("any"), .string("all"), .string("previous"),
      .array([.string("frame"), .string("frame")]), .array([.string("a.b")]),
      .object([
        "nodes": .array([.object(["id": .string("a"), "kind": .string("crop")])]),
        "output": .string("a"),
      ]),
    ]
}

extension JSONValue {
  fileprivate func with(_ key: String, _ value: JSONValue?) -> JSONValue {
    guard case .object(var members) = self else { return self }
    members[key] = value
    return .object(members)
  }

  fileprivate func value(at place: [String]) -> JSONValue? {
    guard let first = place.first else { return self }
    let rest = Array(place.dropFirst())
    switch self {
    case .object(let members): return members[first]?.value(at: rest)
    case .array(let values):
      guard let index = Int(first), values.indices.contains(index) else { return nil }
      return values[index].value(at: rest)
    default: return nil
    }
  }

  fileprivate func replacing(
    at place: [String], _ change: (JSONValue) -> JSONValue
  ) -> JSONValue {
    guard let first = place.first else { return change(self) }
    let rest = Array(place.dropFirst())
    switch self {
    case .object(var members):
      members[first] = members[first]?.replacing(at: rest, change)
      return .object(members)
    case .array(var values):
      guard let index = Int(first), values.indices.contains(index) else { return self }
      values[index] = values[index].replacing(at: rest, change)
      return .array(values)
    default: return self
    }
  }
}
