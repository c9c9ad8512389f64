import RetakeCore

/// An edge of a document, with the nodes and the ports at its ends.
struct DocumentEdge {
  let json: JSONValue
  /// In the form of the document: `split.few`.
  let ends: [String]
  /// The node IDs at both ends, without ports.
  let nodes: [String]

  init(_ json: JSONValue) {
    self.json = json
    ends = ["from", "to"].map { key in
      // A stored document is compared without being validated, because its kinds may be unknown
      // here.
      if case .string(let text)? = json[key] { text } else { "?" }
    }
    nodes = ends.map { String($0.prefix { $0 != "." }) }
  }

  var from: String { nodes[0] }
  var to: String { nodes[1] }

  /// `edge gray to motion`; with the names of the ports if there are any.
  func place(_ scope: String) -> String { "edge \(scope)\(ends[0]) to \(scope)\(ends[1])" }

  /// The ends that differ from those of another edge between the same nodes.
  func otherEnds(than other: DocumentEdge) -> String {
    zip(ends, other.ends).filter { $0 != $1 }.map(\.0).joined(separator: " to ")
  }

  /// The queue's policy and capacity, unless they are the defaults: `dropNewest, capacity 5`.
  var queue: String? {
    var parts: [String] = []
    if case .string(let policy)? = json["policy"] { parts.append(policy) }
    // A replace edge always has the capacity 1.
    if let capacity = json["capacity"], json["policy"] != .string("replace") {
      parts.append("capacity \(capacity.canonicalText)")
    }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  var queueWords: String { queue.map { " (\($0))" } ?? "" }
}

extension PipelineEdge {
  /// The default value for a key that a document omits for an edge, a pool or an executor.
  static func defaultText(_ key: String) -> String {
    switch key {
    case "capacity": String(defaultCapacity)
    case "policy": EdgePolicy.block.rawValue
    default: "none"
    }
  }
}

/// The edges of a document, or of the body of a forEach.
struct EdgeList {
  let edges: [DocumentEdge]
  /// `from to`, with a number for edges that have the same ends.
  let ids: [String]
  private let bySender: [String: [Int]]
  private let byReceiver: [String: [Int]]

  init(_ list: JSONValue?) {
    let elements: [JSONValue] = if case .array(let elements)? = list { elements } else { [] }
    edges = elements.map { DocumentEdge($0) }
    var counts: [String: Int] = [:]
    ids = edges.map { edge in
      let id = edge.ends.joined(separator: " ")
      counts[id, default: 0] += 1
      // Two edges with the same ends are not valid, but each must be compared with its own partner.
      let number = counts[id] ?? 1
      return number == 1 ? id : "\(id) #\(number)"
    }
    bySender = Dictionary(grouping: edges.indices) { [edges] in edges[$0].from }
    byReceiver = Dictionary(grouping: edges.indices) { [edges] in edges[$0].to }
  }

  /// The largest number of names that are listed for one side of a node.
  private static let namesMax = 3

  /// `between camera and motion`; `nil` for a node without edges.
  func surroundings(of node: String) -> String? {
    let before = Self.names(byReceiver[node, default: []].map { edges[$0].from })
    let behind = Self.names(bySender[node, default: []].map { edges[$0].to })
    switch (before, behind) {
    case (nil, nil): return nil
    case (let before?, nil): return "after \(before)"
    case (nil, let behind?): return "before \(behind)"
    case (let before?, let behind?):
      // "between a, b and c" would not say where the node is.
      return before.contains(" ") || behind.contains(" ")
        ? "from \(before) to \(behind)" : "between \(before) and \(behind)"
    }
  }

  /// `camera, rear and 3 others`.
  private static func names(_ ids: [String]) -> String? {
    var seen: Set<String> = []
    // Two nodes may have several edges, one for each port.
    let names = ids.filter { seen.insert($0).inserted }
    guard !names.isEmpty else { return nil }
    let others = names.count - namesMax
    return names.prefix(namesMax).joined(separator: ", ")
      + (others > 0 ? " and \(counted(others, "other"))" : "")
  }

  /// The largest number of edges that are visited in the search for a path.
  private static let stepsMax = 64

  /// The edges of a path between two nodes that passes only through the given nodes; `nil` if no
  /// path was found.
  func way(from start: String, to end: String, through nodes: Set<String>) -> [Int]? {
    var reached: [String: Int] = [:]
    var waiting = [start]
    var next = 0
    var steps = 0
    while next < waiting.count {
      for index in bySender[waiting[next], default: []] {
        steps += 1
        // The search runs for each edge without a partner, of which a hostile document has
        // thousands. Without a path the edges are reported one by one.
        guard steps <= Self.stepsMax else { return nil }
        let to = edges[index].to
        // A direct edge between the two does not pass through a new node.
        if to == end, waiting[next] != start { return path(back: index, from: start, reached) }
        guard nodes.contains(to), reached[to] == nil else { continue }
        reached[to] = index
        waiting.append(to)
      }
      next += 1
    }
    return nil
  }

  private func path(back last: Int, from start: String, _ reached: [String: Int]) -> [Int] {
    var way = [last]
    // Ends at the start: each step leads to a node that was reached before.
    while let index = reached[edges[way[0]].from], edges[way[0]].from != start {
      way.insert(index, at: 0)
    }
    return way
  }
}

/// Pairs the edges of two documents, and lists the other edges that should be reported.
struct EdgeComparison {
  let old: EdgeList
  let new: EdgeList
  /// Edges between the same two nodes, and with the same ports if there are such edges.
  private(set) var pairs: [(DocumentEdge, DocumentEdge)] = []
  private(set) var added: [DocumentEdge] = []
  private(set) var removed: [DocumentEdge] = []

  /// - Parameters:
  ///   - removedNodes: Nodes that are only in the old document.
  ///   - addedNodes: Nodes that are only in the new document.
  init(
    old: EdgeList, new: EdgeList, removed removedNodes: Set<String>, added addedNodes: Set<String>
  ) {
    (self.old, self.new) = (old, new)
    var left = (old: Unmatched(old, notIn: new), new: Unmatched(new, notIn: old))
    let byID = Dictionary(
      zip(old.ids, old.edges), uniquingKeysWith: { first, _ in first })
    for (id, edge) in zip(new.ids, new.edges) {
      if let before = byID[id] {
        pairs.append((before, edge))
      } else if let before = left.old.takeFirst(between: edge.nodes) {
        pairs.append((before, edge))
        // An edge that moved to another port is one change, and neither removed nor new.
        left.new.take(id)
      }
    }
    // A node that was inserted into an edge, or removed from it, explains the change of that edge.
    left.old.explain(by: &left.new, with: addedNodes)
    left.new.explain(by: &left.old, with: removedNodes)
    added = left.new.edges
    removed = left.old.edges
  }

  /// The edges of one document without a partner, in order.
  private struct Unmatched {
    private let list: EdgeList
    private let indices: [Int]
    private let places: [String: Int]
    /// In reverse order.
    private var byNodes: [[String]: [Int]]
    private var taken: Set<Int> = []

    init(_ list: EdgeList, notIn other: EdgeList) {
      self.list = list
      let known = Set(other.ids)
      let indices = list.ids.indices.filter { !known.contains(list.ids[$0]) }
      self.indices = indices
      places = Dictionary(
        indices.map { (list.ids[$0], $0) }, uniquingKeysWith: { first, _ in first })
      // In this order, `popLast` removes the first edge of the document, without moving the others.
      byNodes = Dictionary(grouping: indices.reversed()) { list.edges[$0].nodes }
    }

    var edges: [DocumentEdge] {
      indices.filter { !taken.contains($0) }.map { list.edges[$0] }
    }

    mutating func takeFirst(between nodes: [String]) -> DocumentEdge? {
      guard let index = byNodes[nodes]?.popLast() else { return nil }
      taken.insert(index)
      return list.edges[index]
    }

    mutating func take(_ id: String) {
      if let index = places[id] { taken.insert(index) }
    }

    /// Removes edges that the other document replaces with a path through new nodes with the same
    /// queue. Also removes the remaining edges at the new nodes, if they have a default queue.
    mutating func explain(by other: inout Unmatched, with nodes: Set<String>) {
      guard !nodes.isEmpty else { return }
      for index in indices where !taken.contains(index) {
        let edge = list.edges[index]
        guard let way = other.list.way(from: edge.from, to: edge.to, through: nodes),
          way.compactMap({ other.list.edges[$0].queue }) == [edge.queue].compactMap(\.self)
        else { continue }
        // The old queue is on one edge of the path, and there is no other: only the node is new.
        taken.insert(index)
        other.taken.formUnion(way)
      }
      // The line about the node names its neighbors, so these edges would add no information.
      for index in other.indices where other.list.edges[index].queue == nil {
        if !nodes.isDisjoint(with: other.list.edges[index].nodes) { other.taken.insert(index) }
      }
    }
  }
}
