import RetakeCore

/// The list of executors and pools below the drawing.
struct DiagramLegend {
  struct Row {
    var heading: String
    var name: String
    var text: String
    var isPool: Bool
  }

  static let rowHeight = 26

  let rows: [Row]
  let width: Int

  init(_ diagram: PipelineDiagram) {
    rows =
      diagram.executors.map {
        Row(heading: "executor", name: $0.name, text: $0.text, isPool: false)
      }
      + diagram.pools.map { Row(heading: "pool", name: $0.name, text: $0.text, isPool: true) }
    width =
      rows.map {
        Self.textLeft(of: $0) + DiagramText.width($0.text.visible(limit: Self.textMax), size: 11)
      }.max() ?? 0
  }

  static let textMax = 110
  static let nameLeft = 64

  static func textLeft(of row: Row) -> Int { nameLeft + DiagramText.chipWidth(row.name) + 10 }

  /// Including the space above it.
  var height: Int { rows.isEmpty ? 0 : rows.count * Self.rowHeight + 28 }
}
