import RetakeCore

/// Boxes, arrows and the legend as SVG elements.
struct DiagramPainter {
  /// The color of each executor and pool, by its position; there are six colors.
  private let hues: [String: Int]

  init(_ diagram: PipelineDiagram) {
    let names =
      diagram.executors.map { "executor \($0.name)" } + diagram.pools.map { "pool \($0.name)" }
    hues = Dictionary(
      zip(names, names.indices.map { $0 % Self.hueCount }), uniquingKeysWith: { first, _ in first })
  }

  private static let hueCount = 6

  /// Arrows are drawn first, so that boxes cover them.
  func drawing(_ layout: DiagramLayout) -> String {
    // The frames of forEach come before the arrows, which end inside of them.
    (layout.boxes.filter { !$0.inner.isEmpty }.map { frame($0) }
      + layout.arrows.map { arrow($0) } + layout.boxes.flatMap { self.boxes($0) })
      .joined(separator: "\n")
  }

  func drawing(_ legend: DiagramLegend) -> String {
    legend.rows.enumerated().map { index, row in
      let y = 34 + index * DiagramLegend.rowHeight
      return text(row.heading, "kind", 0, y)
        + chip(row.name, isPool: row.isPool, x: DiagramLegend.nameLeft, y: y - 13)
        + text(
          row.text.visible(limit: DiagramLegend.textMax), "fact", DiagramLegend.textLeft(of: row), y
        )
    }.joined(separator: "\n")
  }

  // MARK: Boxes

  /// The box of a forEach, with the arrows that lead in and out.
  private func frame(_ placed: DiagramLayout.PlacedBox) -> String {
    var result = "<g class=\"forEach\">" + rect(placed, "cluster", radius: 14)
    result += text(placed.box.title, "id", placed.x + 14, placed.y + 20)
    let kind = placed.x + 14 + DiagramText.width(placed.box.title, size: 13, isBold: true) + 8
    result += text("for each detection", "kind", kind, placed.y + 20)
    let ends =
      [placed.x] + placed.inner.flatMap { [$0.x, $0.x + $0.width] } + [placed.x + placed.width]
    for (place, index) in stride(from: 0, to: ends.count, by: 2).enumerated() {
      let next =
        placed.inner.indices.contains(place) ? placed.inner[place] : placed.inner[place - 1]
      let y = next.y + next.height / 2
      let edge =
        // Only arrows between two stages are in `innerEdges`. The range would trap without a stage,
        // but `drawing` makes no frame then.
        (1..<placed.inner.count).contains(place) ? placed.box.innerEdges[place - 1] : nil
      let dash = edge?.isInserted == true ? " inserted" : ""
      result += "<path class=\"edge\(dash)\" d=\"M\(ends[index]) \(y)H\(ends[index + 1])\"/>"
      if place < placed.inner.count { result += tip(ends[index + 1], y) }
      if let label = edge?.label {
        result += text(label, "label", (ends[index] + ends[index + 1]) / 2, y - 6)
      }
    }
    return result + "</g>"
  }

  private func boxes(_ placed: DiagramLayout.PlacedBox) -> [String] {
    placed.inner.isEmpty ? [box(placed)] : placed.inner.map { box($0) }
  }

  private func box(_ placed: DiagramLayout.PlacedBox) -> String {
    let box = placed.box
    let left = placed.x + DiagramText.margin + 2
    let words = ([box.id, DiagramText.kind(of: box)] + box.facts).joined(separator: ", ")
    var result =
      "<g class=\"box \(box.role.rawValue)\(box.isInserted ? " inserted" : "")\">"
      // For a pointer or a screen reader: the labels, of which the drawing may show only a part.
      + "<title>\(MarkupText.escaped(words.visible(limit: 300)))</title>"
      + rect(placed, "body", radius: 9)
    result +=
      "<path class=\"mark\" d=\"M\(placed.x + 5) \(placed.y + 10)V\(placed.y + placed.height - 10)\"/>"
    result += text(DiagramText.title(of: box), "id", left, placed.y + 20)
    result += text(DiagramText.kind(of: box), "kind", left, placed.y + 35)
    var y = placed.y + 37
    for line in DiagramText.factLines(of: box) {
      y += DiagramText.lineHeight
      result += text(line, "fact", left, y)
    }
    var x = left
    for (name, isPool) in DiagramText.chips(of: box) {
      result += chip(name, isPool: isPool, x: x, y: y + 8)
      x += DiagramText.chipWidth(name) + 6
    }
    for (place, port) in placed.inPorts.enumerated() {
      result += text(port.visible(limit: 20), "port", left, placed.portY(place) + 4)
    }
    for (place, port) in placed.outPorts.enumerated() {
      result += text(
        port.visible(limit: 20), "port end", placed.x + placed.width - DiagramText.margin,
        placed.portY(place) + 4)
    }
    return result + "</g>"
  }

  /// A label, round for an executor and angular for a pool.
  private func chip(_ name: String, isPool: Bool, x: Int, y: Int) -> String {
    let hue = hues["\(isPool ? "pool" : "executor") \(name)"] ?? 0
    let width = DiagramText.chipWidth(name)
    return
      "<g class=\"chip hue\(hue)\"><rect x=\"\(x)\" y=\"\(y)\" width=\"\(width)\" height=\"17\" "
      + "rx=\"\(isPool ? 3 : 8)\"/><text x=\"\(x + 8)\" y=\"\(y + 12)\">\(isPool ? "▤" : "●") "
      + "\(MarkupText.escaped(name.visible(limit: 14)))</text></g>"
  }

  private func rect(_ placed: DiagramLayout.PlacedBox, _ name: String, radius: Int) -> String {
    "<rect class=\"\(name)\" x=\"\(placed.x)\" y=\"\(placed.y)\" width=\"\(placed.width)\" "
      + "height=\"\(placed.height)\" rx=\"\(radius)\"/>"
  }

  private func text(_ text: String, _ name: String, _ x: Int, _ y: Int) -> String {
    "<text class=\"\(name)\" x=\"\(x)\" y=\"\(y)\">\(MarkupText.escaped(text))</text>"
  }

  // MARK: Arrows

  private func arrow(_ placed: DiagramLayout.PlacedArrow) -> String {
    guard let first = placed.points.first, let last = placed.points.last else { return "" }
    let dash = placed.arrow.isInserted ? " inserted" : ""
    var path = "M\(first.x) \(first.y)"
    for (from, to) in zip(placed.points, placed.points.dropFirst()) {
      if from.y == to.y {
        path += "H\(to.x)"
      } else {
        let middle = (from.x + to.x) / 2
        path += "C\(middle) \(from.y) \(middle) \(to.y) \(to.x) \(to.y)"
      }
    }
    var result = "<path class=\"edge\(dash)\" d=\"\(path)\"/>" + tip(last.x, last.y)
    if let label = placed.arrow.label {
      // Each arrow has at least two points: `DiagramLayout.connect` sets both of its ends.
      let next = placed.points[1]
      result += text(label, "label", (first.x + next.x) / 2, (first.y + next.y) / 2 - 6)
    }
    return result
  }

  private func tip(_ x: Int, _ y: Int) -> String {
    "<path class=\"tip\" d=\"M\(x - 7) \(y - 4)L\(x) \(y)L\(x - 7) \(y + 4)Z\"/>"
  }
}

extension DiagramPainter {
  static let style = """

    .pipeline { font-family: system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif;
      --paper: #ffffff; --box: #f7f8fa; --line: #c3c9d2; --edge: #7b8494; --ink: #16202e;
      --soft: #5b6676; --group: #eef2f8; --source: #2f6fdb; --sink: #1d8a55; --stage: #8a93a3;
      --join: #8a4fd0; --h0: #2f6fdb; --h1: #b4551d; --h2: #1d8a55; --h3: #a3338b; --h4: #7a6a00;
      --h5: #5b6676; }
    @media (prefers-color-scheme: dark) { .pipeline {
      --paper: #10151d; --box: #1b222d; --line: #3a4453; --edge: #8792a3; --ink: #e8ecf2;
      --soft: #9da8b8; --group: #161d28; --source: #6ea3ff; --sink: #4cc38a; --stage: #6d7888;
      --join: #b98bf0; --h0: #6ea3ff; --h1: #f0a067; --h2: #4cc38a; --h3: #e583cf; --h4: #d6c44a;
      --h5: #9da8b8; } }
    .paper { fill: var(--paper); }
    .name { fill: var(--ink); font-size: 16px; font-weight: 650; }
    .body { fill: var(--box); stroke: var(--line); }
    .cluster { fill: var(--group); stroke: var(--line); }
    .mark { stroke: var(--stage); stroke-width: 3; stroke-linecap: round; }
    .source .mark { stroke: var(--source); }
    .sink .mark { stroke: var(--sink); }
    .join .mark { stroke: var(--join); }
    .control .mark { stroke: var(--h4); }
    .stateful .body { stroke-width: 2; }
    .id { fill: var(--ink); font-size: 13px; font-weight: 650; }
    .kind, .port { fill: var(--soft); font-size: 11px; }
    .fact { fill: var(--ink); font-size: 11px; }
    .end { text-anchor: end; }
    .label { fill: var(--h1); font-size: 10.5px; text-anchor: middle; }
    .label { paint-order: stroke; stroke: var(--paper); stroke-width: 3px; }
    .forEach .label { stroke: var(--group); }
    .edge { fill: none; stroke: var(--edge); stroke-width: 1.5; }
    .tip { fill: var(--edge); }
    .inserted .body, .edge.inserted { stroke-dasharray: 5 4; }
    .inserted .id, .inserted .fact { fill: var(--soft); font-weight: 500; }
    .chip rect { fill: none; stroke: currentColor; }
    .chip text { fill: currentColor; font-size: 10px; }
    .hue0 { color: var(--h0); } .hue1 { color: var(--h1); } .hue2 { color: var(--h2); }
    .hue3 { color: var(--h3); } .hue4 { color: var(--h4); } .hue5 { color: var(--h5); }

    """
}
