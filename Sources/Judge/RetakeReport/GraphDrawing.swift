import RetakeCore

/// The colored graph as SVG. Each node shows its status in words and by a mark, not by color
/// alone.
enum GraphDrawing {
  /// The drawing, or `nil` if the graph cannot be drawn. `statuses` override the nodes' own
  /// statuses.
  static func svg(_ graph: ReportGraph, statuses: [NodeStatus], id: String) -> String? {
    guard let layout = GraphLayout(graph) else { return nil }
    let nodes = colored(graph, statuses)
    var text =
      "<svg class=\"graph\" role=\"img\" aria-labelledby=\"\(id)\" width=\"\(layout.width)\" "
      + "height=\"\(layout.height)\" viewBox=\"0 0 \(layout.width) \(layout.height)\">"
    text += "<title id=\"\(id)\">\(MarkupText.escaped(describe(nodes)))</title>"
    // SVG paints in the order of its elements: nodes come last, so that they cover the edges' ends.
    for line in layout.lines { text += edge(line, nodes) }
    for (node, corner) in zip(nodes, layout.corners) { text += Self.node(node, corner) }
    return text + "</svg>"
  }

  /// A graph that cannot be drawn, in words: the nodes that are not equal, and the number of equal
  /// nodes.
  static func list(_ graph: ReportGraph, statuses: [NodeStatus]) -> String {
    let nodes = colored(graph, statuses)
    let others = nodes.filter { $0.status != .equal }
    let text = "\(describe(others)) \(Wording.count(nodes.count - others.count, "node")) equal."
    return nodes.isEmpty ? "" : "<p>\(MarkupText.escaped(text.visible(limit: 2000)))</p>"
  }

  private static func colored(_ graph: ReportGraph, _ statuses: [NodeStatus]) -> [ReportNode] {
    var own: [String: ReportNode.Status] = [:]
    for item in statuses { own[item.node] = item.status }
    return graph.nodes.map { node in
      var node = node
      node.status = own[node.id] ?? node.status
      return node
    }
  }

  /// `"camera: equal. motion: root cause."`
  static func describe(_ nodes: [ReportNode]) -> String {
    nodes.map { "\($0.id): \($0.status.words)." }.joined(separator: " ")
  }

  private static func node(_ node: ReportNode, _ corner: GraphLayout.Point) -> String {
    let (x, y) = (corner.x, corner.y)
    let kind = node.stateful ? "\(node.kind) · stateful" : node.kind
    return """
      <g class="node \(node.status.rawValue)"><rect x="\(x)" y="\(y)" \
      width="\(GraphLayout.nodeWidth)" height="\(GraphLayout.nodeHeight)" rx="8"/>\
      <title>\(MarkupText.escaped("\(node.id) (\(kind)): \(node.status.words)"))</title>\
      <text class="id" x="\(x + 12)" y="\(y + 20)">\(fitted(node.id, size: 13, isBold: true))</text>\
      <text class="kind" x="\(x + 12)" y="\(y + 34)">\(fitted(kind, size: 11))</text>\
      <text class="status" x="\(x + 12)" y="\(y + 49)">\(node.status.mark) \
      \(node.status.words)</text></g>
      """
  }

  private static func edge(_ line: GraphLayout.Line, _ nodes: [ReportNode]) -> String {
    guard let first = line.points.first else { return "" }
    var path = "M\(first.x) \(first.y)"
    for (from, to) in zip(line.points, line.points.dropFirst()) {
      let middle = (from.x + to.x) / 2
      path += "C\(middle) \(from.y) \(middle) \(to.y) \(to.x) \(to.y)"
    }
    let source = nodes.first { $0.id == line.edge.nodes.from }
    let carries = [.rootCause, .downstream, .tainted].contains(source?.status ?? .equal)
    var text = "<path class=\"edge\(carries ? " differs" : "")\" d=\"\(path)\"/>"
    if let last = line.points.last {
      text += "<path class=\"tip\(carries ? " differs" : "")\" "
      text += "d=\"M\(last.x - 7) \(last.y - 4)L\(last.x) \(last.y)L\(last.x - 7) \(last.y + 4)\"/>"
    }
    if let label = line.edge.label, line.points.count > 1 {
      // Over the first part of the edge: `GraphLayout` has widened the gap after that column.
      let next = line.points[1]
      let (x, y) = ((first.x + next.x) / 2, (first.y + next.y) / 2 - 6)
      text += "<text class=\"label\" x=\"\(x)\" y=\"\(y)\">\(short(label, 15))</text>"
    }
    return text
  }

  /// As much of a string as fits in a node.
  private static func fitted(_ text: String, size: Int, isBold: Bool = false) -> String {
    let room = GraphLayout.nodeWidth - 20
    // A letter is wider than a pixel, so `room` letters never fit. Ends at one letter.
    var limit = text.visible(limit: room).count
    while limit > 1,
      DiagramText.width(text.visible(limit: limit), size: size, isBold: isBold) > room
    {
      limit -= 1
    }
    return short(text, limit)
  }

  private static func short(_ text: String, _ limit: Int) -> String {
    MarkupText.escaped(text.visible(limit: limit))
  }
}

extension ReportNode.Status {
  var words: String {
    switch self {
    case .equal: "equal"
    case .rootCause: "root cause"
    case .downstream: "downstream"
    case .tainted: "tainted"
    case .notRun: "not run"
    case .notCompared: "not compared"
    case .added: "added"
    case .removed: "removed"
    }
  }

  var mark: String {
    switch self {
    case .equal: "✓"
    case .rootCause: "◆"
    case .downstream: "≈"
    case .tainted: "≋"
    case .notRun, .notCompared: "–"
    case .added: "+"
    case .removed: "−"
    }
  }
}
