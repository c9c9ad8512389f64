import RetakeCore

/// The differences between two pipelines' documents, in the order of the new one: nodes with their
/// settings, edges, executors, pools, and the name.
///
/// Both documents are compared in canonical form, which contains every default. So an explicit
/// default makes no difference.
package struct PipelineDifference: Hashable, Sendable {
  /// Changes that are kept; further changes are only counted.
  package static let changesMax = 10

  package private(set) var changes: [PipelineChange] = []
  /// The number of all changes.
  package private(set) var count = 0
  private let limit: Int
  private let ignored: Set<PipelineChange.Kind>

  /// - Parameter ignored: Kinds of changes that are neither kept nor counted.
  package init(
    from old: PipelineRecord, to new: PipelineRecord,
    ignoring ignored: Set<PipelineChange.Kind> = [],
    limit: Int = changesMax
  ) {
    self.limit = limit
    self.ignored = ignored
    compareGraph(old.json, new.json, scope: "")
    compareList("executors", .executor, old.json, new.json)
    compareList("pools", .pool, old.json, new.json)
    // `PipelineRecord` accepts other keys, too, and the digest covers them.
    let known = ["v", "name", "nodes", "edges", "executors", "pools"]
    for key in Self.keys(old.json, new.json) where !known.contains(key) {
      compare(.other, at: key, old.json[key], new.json[key])
    }
    if old.name != new.name {
      add(.name) { .init(.name, at: "name", from: old.name, to: new.name) }
    }
  }

  private mutating func add(_ kind: PipelineChange.Kind, _ change: () -> PipelineChange) {
    guard !ignored.contains(kind) else { return }
    count += 1
    // The text is made only if it is kept: a hostile document may have thousands of changes.
    if changes.count < limit { changes.append(change()) }
  }

  // MARK: nodes

  /// - Parameters:
  ///   - old: A document, or the body of a forEach.
  ///   - scope: The prefix of IDs: `x/` inside a forEach `x`.
  private mutating func compareGraph(_ old: JSONValue, _ new: JSONValue, scope: String) {
    let nodes = (old: Elements(old["nodes"]), new: Elements(new["nodes"]))
    let edges = EdgeComparison(
      old: EdgeList(old["edges"]), new: EdgeList(new["edges"]),
      removed: nodes.old.ids(notIn: nodes.new), added: nodes.new.ids(notIn: nodes.old))
    for (id, node) in nodes.new.items {
      if let before = nodes.old[id] {
        compareNode(scope + id, before, node)
      } else {
        let place = edges.new.surroundings(of: id)
        add(.nodeAdded) {
          .init(
            .nodeAdded, at: scope + id,
            text: "node '\(scope + id)' is new" + Self.words(node, place))
        }
      }
    }
    for (id, node) in nodes.old.items where nodes.new[id] == nil {
      let place = edges.old.surroundings(of: id)
      add(.nodeRemoved) {
        .init(
          .nodeRemoved, at: scope + id,
          text: "node '\(scope + id)' is gone" + Self.words(node, place))
      }
    }
    compareEdges(edges, scope: scope)
    compareOrder("nodes", nodes.old.ids, nodes.new.ids, scope: scope)
    compareOrder("edges", edges.old.ids, edges.new.ids, scope: scope)
  }

  /// ` (blur, between camera and motion)`.
  private static func words(_ node: JSONValue, _ place: String?) -> String {
    let parts = [string(node["kind"]), place].compactMap(\.self)
    return parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
  }

  private static let nodeParts: Set<String> = ["id", "kind", "options", "body", "cost"]
  /// The values of keys of a node that a document omits.
  private static let defaults = ["concurrency": "1", "primary": "false", "pinned": "false"]

  private mutating func compareNode(_ id: String, _ old: JSONValue, _ new: JSONValue) {
    guard old != new else { return }
    let kinds = (old: Self.string(old["kind"]) ?? "?", new: Self.string(new["kind"]) ?? "?")
    let isSameKind = kinds.old == kinds.new
    if !isSameKind {
      add(.stage) {
        .init(
          .stage, at: id, from: kinds.old, to: kinds.new, words: "node '\(id)' is another stage")
      }
    }
    for key in Self.keys(old["options"], new["options"]) {
      let (before, now) = (old["options"]?[key], new["options"]?[key])
      // Another kind of stage has its own options.
      guard isSameKind || (before != nil && now != nil) else { continue }
      // `motion.concurrency` would be read as the node's setting, so such an option is written in
      // full.
      let isSetting = Self.nodeParts.contains(key) || Self.settings.contains(key)
      compare(.option, at: isSetting ? "\(id).options.\(key)" : "\(id).\(key)", before, now)
    }
    // The cost is compared as one value: for a change from `fixed` to quantiles, a list of added
    // and removed keys would say less.
    if old["cost"] != new["cost"] {
      add(.cost) {
        .init(
          .cost, at: "\(id).cost", from: Self.costText(old["cost"]), to: Self.costText(new["cost"]))
      }
    }
    for key in Self.keys(old, new) where !Self.nodeParts.contains(key) {
      compare(
        .setting, at: "\(id).\(key)", old[key], new[key], absent: Self.defaults[key] ?? "none")
    }
    if let before = old["body"], let now = new["body"] {
      compareGraph(before, now, scope: "\(id)/")
      compare(.setting, at: "\(id).output", before["output"], now["output"])
    } else if isSameKind {
      compare(.setting, at: "\(id).body", old["body"], new["body"], absent: "none")
    }
  }

  /// Keys of a node that may also be names of options.
  private static let settings: Set<String> = [
    "executor", "primary", "precision", "concurrency", "pinned", "fallback", "timeout", "pool",
    "hold", "batch",
    "output",
  ]

  private static func costText(_ cost: JSONValue?) -> String {
    guard let cost else { return "none" }
    if cost["perFrame"] != nil { return cost.canonicalText }
    if let fixed = string(cost["fixed"]) { return fixed }
    if case .array(let bounds)? = cost["uniform"], bounds.count == 2 {
      return bounds.map { string($0) ?? $0.canonicalText }.joined(separator: " to ")
    }
    if let p50 = string(cost["p50"]), let p99 = string(cost["p99"]) {
      return "p50 \(p50), p99 \(p99)"
    }
    return cost.canonicalText
  }

  // MARK: edges

  private mutating func compareEdges(_ edges: EdgeComparison, scope: String) {
    for (before, now) in edges.pairs {
      if before.ends != now.ends {
        let ends = (before.otherEnds(than: now), now.otherEnds(than: before))
        add(.port) {
          .init(.port, at: now.place(scope) + ", port", from: ends.0, to: ends.1)
        }
      }
      for key in Self.keys(before.json, now.json) where key != "from" && key != "to" {
        compare(
          .queue, at: "\(now.place(scope)), \(key)", before.json[key], now.json[key],
          absent: PipelineEdge.defaultText(key))
      }
    }
    for edge in edges.added {
      add(.edgeAdded) {
        .init(
          .edgeAdded, at: edge.place(scope), text: "\(edge.place(scope)) is new\(edge.queueWords)")
      }
    }
    for edge in edges.removed {
      add(.edgeRemoved) {
        .init(
          .edgeRemoved, at: edge.place(scope),
          text: "\(edge.place(scope)) is gone\(edge.queueWords)")
      }
    }
  }

  // MARK: lists and values

  /// Executors or pools.
  private mutating func compareList(
    _ key: String, _ kind: PipelineChange.Kind, _ old: JSONValue, _ new: JSONValue
  ) {
    let (before, now) = (Elements(old[key]), Elements(new[key]))
    for (id, item) in now.items {
      let place = "\(kind.rawValue) \(id)"
      guard let other = before[id] else {
        add(kind) {
          .init(kind, at: place, text: "\(kind.rawValue) '\(id)' is new" + Self.details(item))
        }
        continue
      }
      for key in Self.keys(other, item) where key != "id" {
        compare(
          kind, at: "\(place).\(key)", other[key], item[key], absent: PipelineEdge.defaultText(key))
      }
    }
    for (id, item) in before.items where now[id] == nil {
      add(kind) {
        .init(
          kind, at: "\(kind.rawValue) \(id)",
          text: "\(kind.rawValue) '\(id)' is gone" + Self.details(item))
      }
    }
    compareOrder(key, before.ids, now.ids, scope: "")
  }

  /// ` (count 2)`.
  private static func details(_ item: JSONValue) -> String {
    let parts = keys(item, nil).filter { $0 != "id" }.map { "\($0) \(word(item[$0], absent: ""))" }
    return parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
  }

  private mutating func compareOrder(
    _ what: String, _ old: [String], _ new: [String], scope: String
  ) {
    // Elements that only one side has are reported separately, and do not count as a new order.
    let shared = Set(old).intersection(new)
    guard old.filter(shared.contains) != new.filter(shared.contains) else { return }
    let place = scope.isEmpty ? what : "\(what) of '\(scope.dropLast())'"
    add(.order) { .init(.order, at: place, text: "\(place) are in another order") }
  }

  /// Descends into members that both sides have.
  ///
  /// - Parameter absent: The text for a missing value.
  private mutating func compare(
    _ kind: PipelineChange.Kind, at place: String, _ old: JSONValue?, _ new: JSONValue?,
    absent: String = "not set"
  ) {
    guard old != new else { return }
    switch (old, new) {
    case (.object?, .object?):
      for key in Self.keys(old, new) {
        compare(kind, at: "\(place).\(key)", old?[key], new?[key], absent: absent)
      }
    // If an element was inserted, all elements after it would differ from their new neighbors.
    case (.array(let before)?, .array(let now)?)
    where before.count == now.count && !(Self.isShort(before) && Self.isShort(now)):
      for (index, pair) in zip(before, now).enumerated() {
        compare(kind, at: "\(place)[\(index)]", pair.0, pair.1, absent: absent)
      }
    default:
      let texts = (Self.word(old, absent: absent), Self.word(new, absent: absent))
      // 24 and 24.0 are the same value in a document.
      guard texts.0 != texts.1 else { return }
      add(kind) { .init(kind, at: place, from: texts.0, to: texts.1) }
    }
  }

  /// Whether an array is reported as one value, such as a region of four numbers.
  private static func isShort(_ elements: [JSONValue]) -> Bool {
    elements.count <= 4
      && elements.allSatisfy { element in
        switch element {
        case .array, .object: false
        default: true
        }
      }
  }

  private static func word(_ value: JSONValue?, absent: String) -> String {
    switch value {
    case nil: absent
    // In quotes, the string "none" differs from a value that is missing.
    case .string(let text)? where isPlain(text) && text != absent: text
    case let value?: value.canonicalText
    }
  }

  /// Whether a string can be written without quotes.
  private static func isPlain(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte)
          || (0x61...0x7a).contains(byte) || "-_./:@+%".utf8.contains(byte)
      }
      // Without quotes, the string "24" would look like the number.
      && Double(text) == nil && !["true", "false", "null"].contains(text)
  }

  fileprivate static func string(_ value: JSONValue?) -> String? {
    if case .string(let text)? = value { text } else { nil }
  }

  /// The keys of two objects, in byte order.
  private static func keys(_ old: JSONValue?, _ new: JSONValue?) -> [String] {
    var names: Set<String> = []
    for case .object(let members)? in [old, new] { names.formUnion(members.keys) }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}

/// The elements of a list, by ID and in order.
private struct Elements {
  private(set) var items: [(id: String, json: JSONValue)] = []
  private var places: [String: Int] = [:]

  /// - Parameter list: Elements without an ID, or with an ID that occurred before, are numbered.
  init(_ list: JSONValue?) {
    guard case .array(let elements)? = list else { return }
    for (index, json) in elements.enumerated() {
      var id = PipelineDifference.string(json["id"]) ?? "#\(index)"
      if places[id] != nil { id += "#\(index)" }
      places[id] = items.count
      items.append((id, json))
    }
  }

  var ids: [String] { items.map(\.id) }

  subscript(id: String) -> JSONValue? { places[id].map { items[$0].json } }

  func ids(notIn other: Elements) -> Set<String> { Set(ids.filter { other[$0] == nil }) }
}
