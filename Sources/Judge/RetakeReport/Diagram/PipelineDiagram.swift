import RetakeCore
import RetakeGraph

/// The boxes and arrows that draw a pipeline, without positions.
struct PipelineDiagram {
  struct Box: Hashable {
    enum Role: String, Hashable {
      case source, stage, stateful, control, join, forEach, sink
    }

    var id: String
    /// The first line, without the name of the forEach that a node of a body belongs to.
    var title: String
    var kind: String
    var role: Role
    /// Cost, slots, timeout and everything else that is not the default.
    var facts: [String] = []
    var executor: String?
    var pool: String?
    /// The inputs of a join, or the outputs of a route.
    var ports: [String] = []
    /// Whether it is an inserted conversion, which is not in the document.
    var isInserted = false
    /// The stages inside a forEach, from left to right.
    var inner: [Box] = []
    /// The arrows between the stages inside.
    var innerEdges: [Arrow] = []
  }

  struct Arrow: Hashable {
    var from: String
    var to: String
    var fromPort: String?
    var toPort: String?
    /// Policy and capacity, if they are not the default.
    var label: String?
    var isInserted = false
  }

  /// An executor or a pool that is shared.
  struct Share: Hashable {
    var name: String
    var text: String
  }

  var name: String
  var boxes: [Box] = []
  var arrows: [Arrow] = []
  var executors: [Share] = []
  var pools: [Share] = []

  /// - Parameter flat: A pipeline from `Pipeline.flattened`, with or without conversions.
  init(flat: Pipeline) {
    name = flat.name
    let byScope = Dictionary(grouping: flat.nodes.filter { $0.scope != nil }, by: \.scope)
    boxes = flat.nodes.filter { $0.scope == nil }.map { node in
      Box(node, inner: byScope[node.id] ?? [], edges: flat.edges)
    }
    let outer = Set(boxes.map(\.id))
    let inserted = Set(flat.nodes.filter(\.isInserted).map(\.id))
    let gathers = flat.nodes.filter { $0.stage.signature.role == .gather }
    let ends = Dictionary(
      gathers.map { ($0.id, $0.scope ?? "") }, uniquingKeysWith: { first, _ in first })
    for edge in flat.edges {
      var arrow = Arrow(
        edge, isInserted: inserted.contains(edge.to) || inserted.contains(edge.from))
      // The end of a forEach has no box: its edges leave the box of the forEach.
      arrow.from = ends[edge.from] ?? edge.from
      if outer.contains(arrow.from), outer.contains(arrow.to) { arrows.append(arrow) }
    }
    executors = flat.executors.map { executor in
      let nodes = flat.nodes.filter { $0.executor == executor.id }.map(\.id)
      return Share(
        name: executor.id,
        text: "\(Wording.count(executor.count, "server")): \(nodes.joined(separator: ", "))")
    }
    pools = flat.pools.map { pool in
      let nodes = flat.nodes.filter { $0.pool == pool.id }.map(\.id)
      return Share(
        name: pool.id,
        text: "\(pool.countText), \(pool.policy.rawValue): "
          + nodes.joined(separator: ", "))
    }
  }
}

extension PipelinePool {
  fileprivate var countText: String {
    guard let adaptive else { return Wording.count(capacity, "buffer") }
    return "\(adaptive.min) to \(adaptive.max) buffers"
  }
}

extension PipelineDiagram.Arrow {
  fileprivate init(_ edge: PipelineEdge, isInserted: Bool) {
    self.init(
      from: edge.from, to: edge.to, fromPort: edge.fromPort, toPort: edge.toPort,
      label: edge.label, isInserted: isInserted)
  }
}

extension PipelineEdge {
  /// `"dropOldest 2"`; `nil` for a queue with defaults.
  fileprivate var label: String? {
    switch policy {
    case .block: capacity == Self.defaultCapacity ? nil : "\(capacity)"
    // Its capacity is always 1.
    case .replace: policy.rawValue
    case .dropNewest, .dropOldest: "\(policy.rawValue) \(capacity)"
    }
  }
}

extension PipelineDiagram.Box {
  fileprivate init(_ node: PipelineNode, inner: [PipelineNode], edges: [PipelineEdge]) {
    self.init(
      id: node.id, title: node.id, kind: node.kind, role: Role(node.stage.signature.role),
      facts: node.facts, executor: node.executor, pool: node.pool,
      ports: node.stage.inputPorts + node.stage.outputPorts, isInserted: node.isInserted)
    // A node of a body is called `x/NODE` outside of the document, and its box is inside the box of
    // `x`.
    if let scope = node.scope { title = String(node.id.dropFirst(scope.count + 1)) }
    if node.isInserted {
      title = "convert"
      kind = "to \(node.stage.options["format"].map { Self.text($0) } ?? "other pixels")"
      let deep = node.convertedFrom.flatMap { $0.isBasic ? nil : "from \($0.rawValue)" }
      facts = [deep, "inserted"].compactMap(\.self)
    }
    let bodies = inner.filter { $0.stage.signature.role != .gather }
    let byID = Dictionary(bodies.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    let inside = edges.filter { byID[$0.to] != nil }
    let next = Dictionary(inside.map { ($0.from, $0) }, uniquingKeysWith: { first, _ in first })
    var last = node.id
    // Ends: a body is a line of stages.
    while self.inner.count < bodies.count, let edge = next[last], let stage = byID[edge.to] {
      self.inner.append(Self(stage, inner: [], edges: []))
      if last != node.id {
        let isInserted = stage.isInserted || byID[last]?.isInserted == true
        innerEdges.append(PipelineDiagram.Arrow(edge, isInserted: isInserted))
      }
      last = stage.id
    }
  }

  private static func text(_ value: JSONValue) -> String {
    if case .string(let text) = value { return text }
    return value.canonicalText
  }
}

extension PipelineDiagram.Box.Role {
  fileprivate init(_ role: StageRole) {
    self =
      switch role {
      case .source: .source
      case .pure: .stage
      case .stateful: .stateful
      case .throttle, .sample, .route: .control
      case .join, .latest, .gather: .join
      case .fork: .forEach
      case .sink: .sink
      }
  }

  /// A word after the kind, so that a role is not shown by color alone.
  var word: String? {
    switch self {
    case .stateful: "stateful"
    case .source, .stage, .control, .join, .forEach, .sink: nil
    }
  }
}

extension PipelineNode {
  /// Everything that is not the default, in a few words.
  fileprivate var facts: [String] {
    var facts: [String] = []
    switch stage.body {
    case .throttle(let policy) where policy.fps > 0: facts.append("\(Self.number(policy.fps)) fps")
    case .sample(let every): facts.append("1 of \(every)")
    case .join(.any): facts.append("any")
    default: break
    }
    switch cost {
    case .fixed(let time): facts.append(time.unitText)
    case .uniform(let low, let high): facts.append("\(low.unitText)–\(high.unitText)")
    case .quantiles(let p50, let p99): facts.append("\(p50.unitText), p99 \(p99.unitText)")
    case nil: break
    }
    if concurrency > 1 { facts.append("concurrency \(concurrency)") }
    if isPinned { facts.append("pinned") }
    if let timeout { facts.append("timeout \(timeout.unitText)") }
    if let fallback { facts.append("else \(fallback.rawValue)") }
    if let hold { facts.append("hold \(hold.unitText)") }
    if isPrimary { facts.append("primary") }
    return facts
  }

  private static func number(_ value: Double) -> String {
    Int(exactly: value).map { "\($0)" } ?? "\(value)"
  }
}
