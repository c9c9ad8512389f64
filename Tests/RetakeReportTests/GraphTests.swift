import Testing

@testable import RetakeReport

@Suite struct GraphTests {
  @Test func `columns follow the longest path, and a long edge goes around`() throws {
    let layout = try #require(
      GraphLayout(graph(["a", "b", "c"], [("a", "b"), ("b", "c"), ("a", "c")])))
    let columns = layout.corners.map(\.x)
    #expect(columns[0] < columns[1] && columns[1] < columns[2])
    #expect(Set(layout.corners.map(\.y)).count == 1)
    let long = try #require(layout.lines.first { $0.edge.from == "a" && $0.edge.to == "c" })
    #expect(long.points.count == 4)
    #expect(long.points[1].y > layout.corners[1].y + GraphLayout.nodeHeight)
  }

  @Test func `nodes of one column lie below each other`() throws {
    let layout = try #require(GraphLayout(graph(["a", "b", "c"], [("a", "b"), ("a", "c")])))
    #expect(layout.corners[1].x == layout.corners[2].x)
    #expect(layout.corners[2].y >= layout.corners[1].y + GraphLayout.nodeHeight)
    #expect(layout.height >= layout.corners[2].y + GraphLayout.nodeHeight)
  }

  @Test func `a cycle, a loop and an edge to nowhere do not stop the drawing`() throws {
    let layout = try #require(
      GraphLayout(graph(["a", "b"], [("a", "b"), ("b", "a"), ("a", "a"), ("a", "x")])))
    #expect(layout.lines.count == 2)
    #expect(layout.width < 1000)
  }

  @Test func `ports belong to their nodes`() throws {
    let layout = try #require(GraphLayout(graph(["split", "a"], [("split.left", "a.in")])))
    #expect(layout.lines.count == 1)
  }

  @Test func `a graph that is too large, or has a node twice, is not drawn`() {
    let many = (0...GraphLayout.nodesMax).map { "n\($0)" }
    #expect(GraphLayout(graph(many, [])) == nil)
    #expect(GraphLayout(graph(["a", "a"], [])) == nil)
    #expect(GraphLayout(graph([], [])) == nil)
  }

  @Test func `the drawing says each status in words, and a root cause has its own colors`() throws {
    let text = try #require(
      GraphDrawing.svg(
        Samples.graph(), statuses: [NodeStatus(node: "boxes", status: .tainted)], id: "g1"))
    #expect(text.contains("<g class=\"node rootCause\">"))
    #expect(text.contains("◆ root cause</text>"))
    #expect(text.contains("<g class=\"node tainted\">"))
    #expect(text.contains("camera: equal. grey: equal. motion: root cause. boxes: tainted."))
    #expect(text.contains("dropNewest · 3"))
    #expect(text.contains("class=\"edge differs\""))
  }

  @Test func `a graph that is too large is told in words`() {
    var large = graph((0...GraphLayout.nodesMax).map { "n\($0)" }, [])
    large.nodes[7].status = .rootCause
    #expect(GraphDrawing.list(large, statuses: []) == "<p>n7: root cause. 120 nodes equal.</p>")
  }

  private func graph(_ ids: [String], _ edges: [(String, String)]) -> ReportGraph {
    ReportGraph(
      nodes: ids.map { ReportNode(id: $0, kind: "k") },
      edges: edges.map { ReportEdge(from: $0.0, to: $0.1) })
  }
}
