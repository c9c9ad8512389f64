import RetakeCore

/// The positions of the boxes and arrows of a diagram, in pixels.
struct DiagramLayout {
  struct PlacedBox {
    var box: PipelineDiagram.Box
    var x: Int
    var y: Int
    var width: Int
    var height: Int
    /// The stages inside a forEach.
    var inner: [PlacedBox] = []
    /// The names of inputs and outputs, from top to bottom.
    var inPorts: [String] = []
    var outPorts: [String] = []

    /// The vertical middle of a port's row.
    func portY(_ place: Int) -> Int {
      y + height - DiagramText.portsBottom + DiagramText.portHeight / 2
        - (max(inPorts.count, outPorts.count) - place) * DiagramText.portHeight
    }
  }

  struct PlacedArrow {
    var arrow: PipelineDiagram.Arrow
    /// From left to right. Neighboring points are joined by a curve, or by a straight line across
    /// a column.
    var points: [LayeredLayout.Point]
  }

  private(set) var boxes: [PlacedBox] = []
  private(set) var arrows: [PlacedArrow] = []
  private(set) var width = 0
  private(set) var height = 0

  /// Between columns, without and with labels on the arrows.
  private static let gap = 44
  private static let labelGap = 96
  /// Around the contents of a forEach.
  static let padding = 16
  static let header = 30
  static let innerGap = 38

  init(_ diagram: PipelineDiagram) {
    let sizes = diagram.boxes.map { Self.size(of: $0) }
    let places = Dictionary(
      zip(diagram.boxes.map(\.id), diagram.boxes.indices), uniquingKeysWith: { first, _ in first })
    let arrows = diagram.arrows.compactMap {
      arrow -> (arrow: PipelineDiagram.Arrow, from: Int, to: Int)? in
      guard let from = places[arrow.from], let to = places[arrow.to] else { return nil }
      return (arrow, from, to)
    }
    let edges = arrows.map { ($0.from, $0.to) }
    let ranks = LayeredLayout.ranks(count: sizes.count, edges)
    var gaps: [Int: Int] = [:]
    for (arrow, from, _) in arrows where arrow.label != nil { gaps[ranks[from]] = Self.labelGap }
    let layout = LayeredLayout(
      sizes, edges: edges, spacing: .init(columns: { gaps[$0] ?? Self.gap }))
    boxes = zip(diagram.boxes, zip(layout.corners, sizes)).map { box, place in
      Self.placed(box, at: place.0, size: place.1)
    }
    connect(arrows, layout)
    (width, height) = (layout.width, layout.height)
  }

  private static func size(of box: PipelineDiagram.Box) -> LayeredLayout.Size {
    guard !box.inner.isEmpty else { return DiagramText.size(of: box) }
    let inner = box.inner.map { DiagramText.size(of: $0) }
    let width =
      // 24 more than the padding: `placed` leaves 12 before the first stage, for the arrow that
      // leads in, and 12 after the last stage.
      inner.reduce(0) { $0 + $1.width } + (inner.count - 1) * innerGap(of: box) + 2 * padding + 24
    return .init(
      width: max(width, DiagramText.size(of: box).width),
      height: (inner.map(\.height).max() ?? 0) + 2 * header)
  }

  private static func innerGap(of box: PipelineDiagram.Box) -> Int {
    box.innerEdges.contains { $0.label != nil } ? innerGap + 14 : innerGap
  }

  private static func placed(
    _ box: PipelineDiagram.Box, at corner: LayeredLayout.Point, size: LayeredLayout.Size
  ) -> PlacedBox {
    var placed = PlacedBox(
      box: box, x: corner.x, y: corner.y, width: size.width, height: size.height)
    var left = corner.x + padding + 12
    let room = size.height - 2 * header
    for inner in box.inner {
      let size = DiagramText.size(of: inner)
      placed.inner.append(
        PlacedBox(
          box: inner, x: left, y: corner.y + header + (room - size.height) / 2, width: size.width,
          height: size.height))
      left += size.width + innerGap(of: box)
    }
    return placed
  }

  /// An arrow starts at the middle of a box's right side or at its own port. On the left side,
  /// arrows are sorted by where they start, so that they do not cross there.
  private mutating func connect(
    _ given: [(arrow: PipelineDiagram.Arrow, from: Int, to: Int)], _ layout: LayeredLayout
  ) {
    func middle(_ box: Int) -> Int { boxes[box].y + boxes[box].height / 2 }
    let byStart = Dictionary(grouping: given.indices) { given[$0].from }.mapValues { indices in
      indices.sorted {
        (layout.bends[$0].first?.y ?? middle(given[$0].to), $0)
          < (layout.bends[$1].first?.y ?? middle(given[$1].to), $1)
      }
    }
    let byEnd = Dictionary(grouping: given.indices) { given[$0].to }.mapValues { indices in
      indices.sorted {
        (layout.bends[$0].last?.y ?? middle(given[$0].from), $0)
          < (layout.bends[$1].last?.y ?? middle(given[$1].from), $1)
      }
    }
    // Each entry changes another box, so the order of the Dictionary does not show.
    for (box, indices) in byStart {
      // Several arrows may leave one output port, which has one row.
      boxes[box].outPorts = indices.compactMap { given[$0].arrow.fromPort }.uniqued
    }
    for (box, indices) in byEnd {
      boxes[box].inPorts = indices.compactMap { given[$0].arrow.toPort }
    }
    for (index, (arrow, from, to)) in given.enumerated() {
      let outPort = arrow.fromPort.flatMap { boxes[from].outPorts.firstIndex(of: $0) }
      let inPort = arrow.toPort.flatMap { boxes[to].inPorts.firstIndex(of: $0) }
      let start = LayeredLayout.Point(
        x: boxes[from].x + boxes[from].width,
        y: outPort.map { boxes[from].portY($0) } ?? middle(from))
      var end = LayeredLayout.Point(
        x: boxes[to].x, y: inPort.map { boxes[to].portY($0) } ?? middle(to))
      // Columns are rounded to pixels, so an almost straight line is made straight.
      if layout.bends[index].isEmpty, abs(end.y - start.y) <= 2 { end.y = start.y }
      arrows.append(PlacedArrow(arrow: arrow, points: [start] + layout.bends[index] + [end]))
    }
  }
}

extension [String] {
  /// Each element once, at its first position.
  fileprivate var uniqued: [String] {
    var seen: Set<String> = []
    return filter { seen.insert($0).inserted }
  }
}
