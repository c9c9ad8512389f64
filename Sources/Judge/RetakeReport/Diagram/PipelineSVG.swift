import RetakeCore
package import RetakeGraph

/// A pipeline as a self-contained SVG image, for light and dark screens.
package enum PipelineSVG {
  /// The most nodes that a drawing can usefully show.
  package static let nodesMax = 400

  /// - Parameter flat: A pipeline from `Pipeline.flattened`, with or without conversions.
  /// - Throws: `report.drawing.tooLarge` for more than `nodesMax` nodes.
  package static func text(flat pipeline: Pipeline) throws -> String {
    guard pipeline.nodes.count <= nodesMax else {
      throw ReportError(
        "report.drawing.tooLarge",
        "the pipeline has \(pipeline.nodes.count) nodes; at most \(nodesMax) are drawn",
        advice: "Write it for Graphviz: retake pipeline draw FILE --dot")
    }
    let diagram = PipelineDiagram(flat: pipeline)
    let layout = DiagramLayout(diagram)
    let legend = DiagramLegend(diagram)
    let margin = 24
    let header = 44
    let width = max(layout.width, legend.width, 240) + 2 * margin
    let height = header + layout.height + legend.height + 2 * margin
    let painter = DiagramPainter(diagram)
    let title = "\(diagram.name): \(Wording.count(diagram.boxes.count, "node"))"
    return """
      <svg xmlns="http://www.w3.org/2000/svg" class="pipeline" role="img" \
      width="\(width)" height="\(height)" viewBox="0 0 \(width) \(height)">
      <title>\(MarkupText.escaped(title))</title>
      <style>\(DiagramPainter.style)</style>
      <rect class="paper" width="\(width)" height="\(height)"/>
      <text class="name" x="\(margin)" y="\(margin + 14)">\(MarkupText.escaped(diagram.name))</text>
      <g transform="translate(\(margin) \(margin + header - 8))">
      \(painter.drawing(layout))
      </g>
      <g transform="translate(\(margin) \(margin + header + layout.height))">
      \(painter.drawing(legend))
      </g>
      </svg>

      """
  }
}
