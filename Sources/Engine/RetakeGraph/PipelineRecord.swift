package import Foundation
package import RetakeCore

/// A pipeline as it is stored next to its results: the canonical document. It can be read without
/// the stages of the pipeline.
package struct PipelineRecord: Hashable, Sendable {
  package private(set) var json: JSONValue

  package init(_ pipeline: Pipeline) {
    json = pipeline.json
  }

  /// Reads a document. Its nodes are not checked, because their kinds may belong to another
  /// program.
  ///
  /// - Throws: `PipelineError` for data that is not a document of this version.
  package init(parsing data: Data) throws {
    let decoder = try PipelineDecoder(parsing: data, bytesMax: PipelineDocument.bytesMax)
    try decoder.requireVersion()
    // A golden or a session may have a document from before its keys were renamed.
    json = Self.withCurrentKeys(decoder.json)
  }

  package var name: String {
    get { if case .string(let name)? = json["name"] { name } else { "" } }
    set { set("name", .string(newValue)) }
  }

  /// XXH3-128 of the canonical document without names and costs. It covers the pipeline's values
  /// and decisions, not their duration.
  package var digest: Digest128 {
    var plain = withoutCosts
    plain.set("name", nil)
    // The digest of a pipeline outlives the words of its document: it covers the stored words.
    let stored = Self.renamed(plain.json, FormerWords.nodeKeys.map { ($1, $0) })
    return Digest128(of: stored.canonicalText)
  }

  package var withoutCosts: PipelineRecord {
    var plain = self
    plain.json = Self.withoutCosts(in: json)
    return plain
  }

  package var hasCosts: Bool { withoutCosts.json != json }

  /// The kind of each node, by ID; `x/NODE` inside a forEach `x`.
  package var kinds: [String: String] { Self.kinds(in: json, scope: "") }

  /// As `Pipeline.primarySink`. Without the stages, a sink is a node that no edge begins at.
  package var primarySink: String? {
    guard case .array(let nodes)? = json["nodes"] else { return nil }
    var senders: Set<String> = []
    if case .array(let edges)? = json["edges"] {
      for edge in edges {
        // A stage with several outputs is written with the output's name: `split.left`.
        guard case .string(let from)? = edge["from"], let id = from.split(separator: ".").first
        else { continue }
        senders.insert(String(id))
      }
    }
    let sinks = nodes.compactMap { node -> (id: String, isPrimary: Bool)? in
      guard case .string(let id)? = node["id"], !senders.contains(id) else { return nil }
      return (id, node["primary"] == .bool(true))
    }
    let last = sinks.max { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
    return (sinks.first(where: \.isPrimary) ?? last)?.id
  }

  /// `motion-boxes, 4 nodes`.
  package var summary: String {
    let count = if case .array(let nodes)? = json["nodes"] { nodes.count } else { 0 }
    return "\(name), \(counted(count, "node"))"
  }

  private mutating func set(_ key: String, _ value: JSONValue?) {
    guard case .object(var members) = json else { return }
    members[key] = value
    json = .object(members)
  }

  /// - Parameter graph: The document, or the body of a forEach.
  private static func withoutCosts(in graph: JSONValue) -> JSONValue {
    guard case .object(var members) = graph, case .array(let nodes)? = members["nodes"] else {
      return graph
    }
    members["nodes"] = .array(
      nodes.map { node in
        guard case .object(var parts) = node else { return node }
        parts["cost"] = nil
        if let body = parts["body"] { parts["body"] = withoutCosts(in: body) }
        return .object(parts)
      })
    return .object(members)
  }

  /// The document with the keys of today in its nodes.
  static func withCurrentKeys(_ json: JSONValue) -> JSONValue {
    renamed(json, FormerWords.nodeKeys.map { ($0, $1) })
  }

  /// The document with other keys in its nodes.
  private static func renamed(_ graph: JSONValue, _ keys: [(String, String)]) -> JSONValue {
    guard case .object(var members) = graph, case .array(let nodes)? = members["nodes"] else {
      return graph
    }
    members["nodes"] = .array(
      nodes.map { node in
        guard case .object(var parts) = node else { return node }
        for (from, to) in keys where parts[to] == nil {
          parts[to] = parts.removeValue(forKey: from)
        }
        if let body = parts["body"] { parts["body"] = renamed(body, keys) }
        return .object(parts)
      })
    return .object(members)
  }

  private static func kinds(in graph: JSONValue, scope: String) -> [String: String] {
    guard case .array(let nodes)? = graph["nodes"] else { return [:] }
    var kinds: [String: String] = [:]
    for node in nodes {
      guard case .string(let id)? = node["id"], case .string(let kind)? = node["kind"] else {
        continue
      }
      kinds[scope + id] = kind
      if let body = node["body"] {
        kinds.merge(Self.kinds(in: body, scope: "\(scope)\(id)/")) { $1 }
      }
    }
    return kinds
  }
}

extension PipelineRecord {
  /// The keys of a document in the order in which they are written.
  private static let order = ["v", "name", "nodes", "edges", "executors", "pools"]
  /// The keys of a node or an edge that come before the others.
  private static let leading = ["id", "kind", "from", "to"]

  /// The document with one line for each node and edge, so that a change is one line of a diff.
  package var text: String {
    let members = Self.members(of: json, first: Self.order)
    let lines = members.map { key, value in "\(JSONValue.quoted(key)): \(Self.text(of: value))" }
    return "{" + lines.joined(separator: ",\n ") + "}\n"
  }

  private static func text(of value: JSONValue) -> String {
    guard case .array(let elements) = value, !elements.isEmpty else { return value.canonicalText }
    return "[\n  " + elements.map(line).joined(separator: ",\n  ") + "]"
  }

  private static func line(_ element: JSONValue) -> String {
    guard case .object = element else { return element.canonicalText }
    let members = members(of: element, first: leading).map { key, value in
      "\(JSONValue.quoted(key)): \(value.canonicalText)"
    }
    return "{" + members.joined(separator: ", ") + "}"
  }

  /// The given keys first, then the others in byte order.
  private static func members(of json: JSONValue, first: [String]) -> [(String, JSONValue)] {
    guard case .object(let members) = json else { return [] }
    let others = members.keys.filter { !first.contains($0) }
      .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    return (first + others).compactMap { key in members[key].map { (key, $0) } }
  }
}
