import RetakeCore

/// Where the nodes and edges of a graph are drawn: columns by the longest path from a source,
/// rows by the order of the document, long edges led through the columns between.
struct GraphLayout {
  /// Beyond this a drawing helps nobody; the report then lists the nodes.
  static let nodesMax = 120

  struct Point: Hashable {
    var x: Int
    var y: Int
  }

  struct Line: Hashable {
    var edge: ReportEdge
    /// Left to right; neighbours are joined by a curve.
    var points: [Point]
  }

  static let nodeWidth = 130
  static let nodeHeight = 58
  private static let rowHeight = 80
  private static let gap = 32
  private static let labelGap = 92
  static let margin = 6

  /// The top left corner of each node, in the order of the document.
  private(set) var corners: [Point] = []
  private(set) var lines: [Line] = []
  private(set) var width = 0
  private(set) var height = 0
  /// The left edge of each column.
  private var columns: [Int] = []

  /// Nil where the graph is too large, or has a node twice.
  init?(_ graph: ReportGraph) {
    let ids = graph.nodes.map(\.id)
    guard !ids.isEmpty, ids.count <= Self.nodesMax, Set(ids).count == ids.count else { return nil }
    let places = Dictionary(uniqueKeysWithValues: zip(ids, ids.indices))
    let edges = graph.edges.compactMap { edge -> (edge: ReportEdge, from: Int, to: Int)? in
      guard let from = places[edge.nodes.from], let to = places[edge.nodes.to], from != to
      else { return nil }
      return (edge, from, to)
    }
    let ranks = Self.ranks(count: ids.count, edges.map { ($0.from, $0.to) })
    var gaps = Array(repeating: Self.gap, count: (ranks.max() ?? 0) + 1)
    for (edge, from, _) in edges where edge.label != nil { gaps[ranks[from]] = Self.labelGap }
    var left = Self.margin
    for gap in gaps {
      columns.append(left)
      left += Self.nodeWidth + gap
    }
    place(ranks, edges)
  }

  /// The longest path from any source; edges that run against it (a cycle) are cut off at the
  /// number of nodes.
  private static func ranks(count: Int, _ edges: [(from: Int, to: Int)]) -> [Int] {
    var ranks = Array(repeating: 0, count: count)
    for _ in 0..<count {
      var moved = false
      for (from, to) in edges where ranks[to] <= ranks[from] && ranks[from] + 1 < count {
        ranks[to] = ranks[from] + 1
        moved = true
      }
      if !moved { break }
    }
    return ranks
  }

  private mutating func place(
    _ ranks: [Int], _ edges: [(edge: ReportEdge, from: Int, to: Int)]
  ) {
    var taken = Array(repeating: 0, count: (ranks.max() ?? 0) + 1)
    for rank in ranks {
      corners.append(corner(rank, row: taken[rank]))
      taken[rank] += 1
    }
    for (edge, from, to) in edges {
      var points = [port(corners[from], right: true)]
      if ranks[to] > ranks[from] + 1 {
        for rank in (ranks[from] + 1)..<ranks[to] {
          let free = corner(rank, row: taken[rank])
          taken[rank] += 1
          points += [port(free, right: false), port(free, right: true)]
        }
      }
      lines.append(Line(edge: edge, points: points + [port(corners[to], right: false)]))
    }
    width = (columns.last ?? 0) + Self.nodeWidth + Self.margin
    height = (taken.max() ?? 1) * Self.rowHeight - (Self.rowHeight - Self.nodeHeight)
    height += 2 * Self.margin
  }

  private func corner(_ rank: Int, row: Int) -> Point {
    Point(x: columns[rank], y: Self.margin + row * Self.rowHeight)
  }

  private func port(_ corner: Point, right: Bool) -> Point {
    Point(x: corner.x + (right ? Self.nodeWidth : 0), y: corner.y + Self.nodeHeight / 2)
  }
}

extension ReportEdge {
  /// The nodes, without the ports that the document may name: `split.left` is of `split`.
  var nodes: (from: String, to: String) { (Self.node(from), Self.node(to)) }

  /// What to write on the edge; nothing for an edge that only blocks.
  var label: String? {
    guard let policy, policy != "block" else { return nil }
    return capacity.map { "\(policy) · \($0)" } ?? policy
  }

  private static func node(_ port: String) -> String {
    port.firstIndex(of: ".").map { String(port[..<$0]) } ?? port
  }
}
