import RetakeCore
package import RetakeGraph

/// A pipeline in the language of Graphviz. Graphviz is not needed to write it.
package enum PipelineDOT {
  /// - Parameter flat: A pipeline from `Pipeline.flattened`, with or without conversions.
  package static func text(flat pipeline: Pipeline) -> String {
    let diagram = PipelineDiagram(flat: pipeline)
    var lines = [
      "digraph \(quoted(diagram.name)) {", "  rankdir=LR;",
      "  node [shape=box, style=rounded, fontname=\"Helvetica\", fontsize=11];",
      "  edge [fontname=\"Helvetica\", fontsize=9];",
    ]
    for box in diagram.boxes { lines += self.lines(of: box) }
    let clusters = Set(diagram.boxes.filter { !$0.inner.isEmpty }.map(\.id))
    for arrow in diagram.arrows { lines.append(line(of: arrow, clusters)) }
    lines += shares(diagram)
    return (lines + ["}", ""]).joined(separator: "\n")
  }

  private static func lines(of box: PipelineDiagram.Box) -> [String] {
    guard !box.inner.isEmpty else { return [node(box, indent: "  ")] }
    var lines = [
      // Graphviz draws a frame only around a subgraph whose name begins with `cluster`.
      "  subgraph \(quoted("cluster_\(box.id)")) {",
      "    label=\(quoted("\(box.title) · forEach")); style=rounded; fontname=\"Helvetica\";",
      "    \(quoted(box.id)) [label=\"each item\", shape=plaintext];",
      "    \(quoted("\(box.id)/join")) [label=\"in order\", shape=plaintext];",
    ]
    lines += box.inner.map { node($0, indent: "    ") }
    lines += box.innerEdges.map { "  " + line(of: $0, []) }
    let ends = [box.id] + box.inner.map(\.id) + ["\(box.id)/join"]
    lines.append("    \(quoted(ends[0])) -> \(quoted(ends[1]));")
    lines.append("    \(quoted(ends[ends.count - 2])) -> \(quoted(ends[ends.count - 1]));")
    return lines + ["  }"]
  }

  private static func node(_ box: PipelineDiagram.Box, indent: String) -> String {
    var label = [box.title, [box.kind, box.role.word].compactMap { $0 }.joined(separator: " · ")]
    if !box.facts.isEmpty { label.append(box.facts.joined(separator: " · ")) }
    if let executor = box.executor { label.append("on \(executor)") }
    if let pool = box.pool { label.append("pool \(pool)") }
    var attributes = ["label=\(quoted(label.joined(separator: "\n")))"]
    // A node's own style replaces the style of `node [...]`, so it names `rounded` again.
    if box.isInserted { attributes.append("style=\"rounded,dashed\"") }
    if box.role == .source || box.role == .sink { attributes.append("penwidth=2") }
    return "\(indent)\(quoted(box.id)) [\(attributes.joined(separator: ", "))];"
  }

  private static func line(of arrow: PipelineDiagram.Arrow, _ clusters: Set<String>) -> String {
    // An edge from a forEach starts at the end of the forEach, which has this id in
    // `Pipeline.flattened`.
    let from = clusters.contains(arrow.from) ? "\(arrow.from)/join" : arrow.from
    var attributes: [String] = []
    if let label = arrow.label { attributes.append("label=\(quoted(label))") }
    if let port = arrow.fromPort { attributes.append("taillabel=\(quoted(port))") }
    if let port = arrow.toPort { attributes.append("headlabel=\(quoted(port))") }
    if arrow.isInserted { attributes.append("style=dashed") }
    let end = attributes.isEmpty ? "" : " [\(attributes.joined(separator: ", "))]"
    return "  \(quoted(from)) -> \(quoted(arrow.to))\(end);"
  }

  /// Executors and pools, as the title of the drawing.
  private static func shares(_ diagram: PipelineDiagram) -> [String] {
    let texts =
      diagram.executors.map { "executor \($0.name), \($0.text)" }
      + diagram.pools.map { "pool \($0.name), \($0.text)" }
    guard !texts.isEmpty else { return [] }
    return [
      "  labelloc=b; fontname=\"Helvetica\"; fontsize=10;",
      "  label=\(quoted(texts.joined(separator: "\n")));",
    ]
  }

  /// A quoted id of the DOT language: newlines are written as `\n`, and only quotes and backslashes
  /// need an escape.
  private static func quoted(_ text: String) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      visible(String(line)).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    }
    return "\"\(lines.joined(separator: "\\n"))\""
  }
}
