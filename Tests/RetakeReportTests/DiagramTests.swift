import Foundation
import RetakeCore
import RetakeGraph
import Testing

@testable import RetakeReport

#if canImport(FoundationXML)
  import FoundationXML
#endif

@Suite struct LayeredLayoutTests {
  private func layout(_ count: Int, _ edges: [(Int, Int)]) -> LayeredLayout {
    let sizes = (0..<count).map { LayeredLayout.Size(width: 80 + 10 * ($0 % 3), height: 40) }
    return LayeredLayout(
      sizes, edges: edges.map { (from: $0.0, to: $0.1) }, spacing: .init(columns: { _ in 30 }))
  }

  @Test func `a branch is centered on what it comes from and goes to`() {
    let diamond = layout(4, [(0, 1), (0, 2), (1, 3), (2, 3)])
    let middles = diamond.corners.map { $0.y + 20 }
    #expect(middles[0] == middles[3])
    #expect(abs(middles[1] + middles[2] - 2 * middles[0]) <= 1)
    #expect(abs(middles[1] - middles[2]) >= 40 + 22)
  }

  @Test func `lines are put in an order in which they do not cross`() {
    let sizes = (0..<6).map { _ in LayeredLayout.Size(width: 10, height: 10) }
    let edges = [(0, 5), (1, 4), (2, 3)].map { (from: $0.0, to: $0.1) }
    var layers = Layers(
      sizes: sizes, ranks: LayeredLayout.ranks(count: 6, edges), edges: edges, lineHeight: 2)
    layers.order()
    #expect(layers.crossings() == 0)
  }

  @Test func `boxes of a column never overlap, and columns never do`() {
    var edges: [(Int, Int)] = []
    for from in 0..<30 {
      for step in [1, 4, 9] where from + step < 30 { edges.append((from, from + step)) }
    }
    let many = layout(30, edges)
    for one in 0..<30 {
      for other in 0..<one {
        let (a, b) = (many.corners[one], many.corners[other])
        if many.ranks[one] == many.ranks[other] {
          #expect(abs(a.y - b.y) >= 40, "\(one) \(other)")
        } else {
          #expect(abs(a.x - b.x) >= 80, "\(one) \(other)")
        }
      }
    }
    #expect(many.bends.count == edges.count)
    #expect(many.corners.allSatisfy { $0.y >= 0 && $0.y + 40 <= many.height })
  }

  @Test func `a source that is needed late stands next to what needs it`() {
    let late = layout(4, [(0, 1), (1, 2), (3, 2)])
    #expect(late.ranks == [0, 1, 2, 1])
  }

  @Test func `nothing at all, and boxes without edges, are laid out`() {
    #expect(layout(0, []).height == 0)
    #expect(Set(layout(3, []).corners.map(\.y)).count == 3)
  }
}

@Suite struct DiagramTests {
  private func node(
    _ id: String, _ role: StageRole, _ change: (inout PipelineNode) -> Void = { _ in }
  ) -> PipelineNode {
    let body: AnyStage.Body =
      role == .source
      ? .source(0) : role == .sink ? .sink { _ in } : .pure { value, _ in .success(value) }
    let stage = AnyStage(
      signature: StageSignature(kind: "kind", version: 1, role: role, input: nil, output: nil),
      options: .object([:]), body: body)
    var node = PipelineNode(id: id, stage: stage)
    change(&node)
    return node
  }

  /// A branch with a queue that drops, a join, a forEach with two stages, an executor and a pool.
  private func yard() -> Pipeline {
    var pairs = node("pairs", .join)
    pairs.stage = .join(["frame", "found"], mode: .any)
    var each = node("each", .fork)
    each.stage = .forEach
    each.body = PipelineBody(
      nodes: [node("crop", .pure), node("name", .pure) { $0.executor = "gpu" }],
      edges: [PipelineEdge(from: "crop", to: "name", capacity: 5)], output: "name")
    return Pipeline(
      name: "<yard> & \"co\"",
      nodes: [
        node("camera", .source) { $0.pool = "frames" },
        node("detect", .pure) {
          $0.cost = .fixed(.milliseconds(45))
          $0.concurrency = 2
          $0.timeout = .milliseconds(50)
          $0.executor = "gpu"
        }, pairs, each, node("boxes", .sink) { $0.isPrimary = true },
      ],
      edges: [
        PipelineEdge(from: "camera", to: "detect", capacity: 2, policy: .dropOldest),
        PipelineEdge(from: "camera", to: "pairs", toPort: "frame"),
        PipelineEdge(from: "detect", to: "pairs", toPort: "found"),
        PipelineEdge(from: "pairs", to: "each"), PipelineEdge(from: "each", to: "boxes"),
      ], executors: [PipelineExecutor(id: "gpu", count: 2)],
      pools: [PipelinePool(id: "frames", capacity: 4, policy: .drop)])
  }

  @Test func `a diagram says what is not the default, and what is in a forEach`() throws {
    let diagram = PipelineDiagram(flat: yard().flattened())
    #expect(diagram.boxes.map(\.id) == ["camera", "detect", "pairs", "each", "boxes"])
    #expect(diagram.boxes[1].facts == ["45ms", "concurrency 2", "timeout 50ms"])
    #expect(diagram.boxes[2].facts == ["any"])
    #expect(diagram.boxes[2].ports == ["frame", "found"])
    #expect(diagram.boxes[3].inner.map(\.title) == ["crop", "name"])
    #expect(diagram.boxes[3].innerEdges.map(\.label) == ["5"])
    #expect(diagram.arrows.map(\.label) == ["dropOldest 2", nil, nil, nil, nil])
    #expect(diagram.arrows.last?.from == "each")
    #expect(diagram.executors.map(\.text) == ["2 servers: detect, each/name"])
    #expect(diagram.pools.map(\.text) == ["4 buffers, drop: camera"])
  }

  @Test func `the picture is well-formed, has every word, and nothing that is not escaped`() throws
  {
    let text = try PipelineSVG.text(flat: yard().flattened())
    let parser = XMLParser(data: Data(text.utf8))
    #expect(parser.parse(), "\(String(describing: parser.parserError))")
    for word in [
      ">camera<", ">detect<", ">45ms · concurrency 2<", ">timeout 50ms<", ">crop<",
      ">dropOldest 2<",
      ">for each detection<", "● gpu", "▤ frames", ">4 buffers, drop: camera<", ">found<",
      "&lt;yard&gt; &amp; &quot;co&quot;", "prefers-color-scheme: dark",
    ] { #expect(text.contains(word), "\(word)") }
    #expect(
      !text.contains("<script") && !text.contains("http://") || text.contains("w3.org/2000/svg"))
  }

  @Test func `inserted conversions are dashed, in the picture and for Graphviz`() throws {
    var flat = yard().flattened()
    var convert = node("detect/convert", .pure)
    convert.isInserted = true
    flat.nodes.append(convert)
    flat.edges[flat.edges.firstIndex { $0.to == "detect" } ?? 0].from = "detect/convert"
    flat.edges.append(PipelineEdge(from: "camera", to: "detect/convert"))
    let text = try PipelineSVG.text(flat: flat)
    #expect(text.contains("class=\"box stage inserted\""))
    #expect(text.components(separatedBy: "class=\"edge inserted\"").count == 3)
    let dot = PipelineDOT.text(flat: flat)
    #expect(
      dot.contains(
        "\"detect/convert\" [label=\"convert\\nto other pixels\\ninserted\", style=\"rounded,dashed\"]"
      ))
  }

  @Test func `the text for Graphviz has clusters, ports and quotes`() {
    let dot = PipelineDOT.text(flat: yard().flattened())
    for line in [
      "digraph \"<yard> & \\\"co\\\"\" {", "  subgraph \"cluster_each\" {",
      "  \"camera\" -> \"detect\" [label=\"dropOldest 2\"];",
      "  \"detect\" -> \"pairs\" [headlabel=\"found\"];",
      "    \"each/crop\" -> \"each/name\" [label=\"5\"];", "  \"each/join\" -> \"boxes\";",
      "executor gpu, 2 servers: detect, each/name\\npool frames, 4 buffers, drop: camera",
    ] { #expect(dot.contains(line), "\(line)\n\(dot)") }
  }

  @Test func `a picture of too many nodes is refused, the text for Graphviz is not`() {
    let nodes =
      [node("camera", .source)]
      + (0..<PipelineSVG.nodesMax).map { node("s\($0)", .sink) }
    let star = Pipeline(
      name: "star", nodes: nodes,
      edges: nodes.dropFirst().map { PipelineEdge(from: "camera", to: $0.id) })
    let error = #expect(throws: ReportError.self) { try PipelineSVG.text(flat: star) }
    #expect(error?.advice == "Write it for Graphviz: retake pipeline draw FILE --dot")
    #expect(PipelineDOT.text(flat: star).contains("\"s399\""))
  }

  @Test func `a report's graph has the stages of a forEach, and ports`() {
    let graph = ReportGraph(yard())
    #expect(graph.nodes.map(\.id).contains("each/crop"))
    #expect(graph.edges.contains { $0.from == "camera" && $0.to == "pairs.frame" })
    #expect(graph.edges.contains { $0.from == "each/join" && $0.to == "boxes" })
  }
}
