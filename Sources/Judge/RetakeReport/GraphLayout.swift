/// The positions of the nodes and edges of a report's graph.
struct GraphLayout {
  /// The most nodes that a drawing can usefully show. For a larger graph, the report lists the
  /// nodes.
  static let nodesMax = 120

  typealias Point = LayeredLayout.Point

  struct Line: Hashable {
    var edge: ReportEdge
    /// From left to right. Neighboring points are joined by a curve.
    var points: [Point]
  }

  static let nodeWidth = 130
  static let nodeHeight = 58
  private static let gap = 32
  private static let labelGap = 92
  static let margin = 6

  /// The top left corner of each node, in the order of the document.
  private(set) var corners: [Point] = []
  private(set) var lines: [Line] = []
  private(set) var width = 0
  private(set) var height = 0

  /// `nil` if the graph is too large or has the same node twice.
  init?(_ graph: ReportGraph) {
    let ids = graph.nodes.map(\.id)
    // The document may come from a file. With an id twice the Dictionary below would trap.
    guard !ids.isEmpty, ids.count <= Self.nodesMax, Set(ids).count == ids.count else { return nil }
    let places = Dictionary(uniqueKeysWithValues: zip(ids, ids.indices))
    let edges = graph.edges.compactMap { edge -> (edge: ReportEdge, from: Int, to: Int)? in
      // For the same reason, a loop or an edge to a missing node is skipped.
      guard let from = places[edge.nodes.from], let to = places[edge.nodes.to], from != to
      else { return nil }
      return (edge, from, to)
    }
    let pairs = edges.map { (from: $0.from, to: $0.to) }
    let ranks = LayeredLayout.ranks(count: ids.count, pairs)
    var gaps: [Int: Int] = [:]
    // The label is drawn over the first part of its edge, after this column.
    for (edge, from, _) in edges where edge.label != nil { gaps[ranks[from]] = Self.labelGap }
    let size = LayeredLayout.Size(width: Self.nodeWidth, height: Self.nodeHeight)
    let layout = LayeredLayout(
      ids.map { _ in size }, edges: pairs, spacing: .init(columns: { gaps[$0] ?? Self.gap }))
    corners = layout.corners.map { Self.shifted($0) }
    for ((edge, from, to), bends) in zip(edges, layout.bends) {
      let start = Self.port(corners[from], right: true)
      let end = Self.port(corners[to], right: false)
      lines.append(Line(edge: edge, points: [start] + bends.map { Self.shifted($0) } + [end]))
    }
    (width, height) = (layout.width + 2 * Self.margin, layout.height + 2 * Self.margin)
  }

  private static func shifted(_ point: Point) -> Point {
    Point(x: point.x + margin, y: point.y + margin)
  }

  private static func port(_ corner: Point, right: Bool) -> Point {
    Point(x: corner.x + (right ? nodeWidth : 0), y: corner.y + nodeHeight / 2)
  }
}

extension ReportEdge {
  /// The nodes, without the ports that the document may name: the node of `split.left` is `split`.
  var nodes: (from: String, to: String) { (Self.node(from), Self.node(to)) }

  /// The label of the edge; `nil` for an edge that only blocks.
  var label: String? {
    guard let policy, policy != "block" else { return nil }
    return capacity.map { "\(policy) · \($0)" } ?? policy
  }

  private static func node(_ port: String) -> String {
    port.firstIndex(of: ".").map { String(port[..<$0]) } ?? port
  }
}
