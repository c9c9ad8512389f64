import Foundation
import RetakeGraph
import RetakeTestCatalog
import Testing

/// The largest and most complex documents are read, or rejected, quickly.
@Suite(.serialized) struct LimitTests {
  private func document(
    nodes: [String], edges: [String], more: String = ""
  ) -> Data {
    Data(
      #"{"v": 1, "nodes": [\#(nodes.joined(separator: ","))], "#
        .appending(#""edges": [\#(edges.joined(separator: ","))]\#(more)}"#).utf8)
  }

  private func check(
    _ data: Data, code: String?, _ what: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    // A shared processor also increases the thread's own time, so the best of ten tries counts.
    let (found, seconds) = CPUTime.bestSeconds(of: 10) { () -> PipelineError? in
      do {
        _ = try PipelineDocument.parse(data, catalog: TestCatalog())
        return nil
      } catch {
        return error as? PipelineError
      }
    }
    #expect(
      found?.code == code.map { "graph.pipeline.\($0)" }, "\(what): \(String(describing: found))",
      sourceLocation: sourceLocation)
    #expect(
      (found?.description.utf8.count ?? 0) < 4_000, "\(what)", sourceLocation: sourceLocation)
    #expect(seconds < CPUTime.secondsMax, "\(what): \(seconds) s", sourceLocation: sourceLocation)
  }

  private static let ends = (
    nodes: [#"{"id": "camera", "kind": "session"}"#, #"{"id": "out", "kind": "results"}"#],
    edges: [#"{"from": "camera", "to": "out"}"#]
  )

  @Test func `4,096 nodes in one line`() {
    let stages = (0..<4_094).map { #"{"id": "n\#($0)", "kind": "grey", "cost": {"fixed": "1ms"}}"# }
    let nodes = Self.ends.nodes + stages
    let edges =
      [#"{"from": "camera", "to": "n0"}"#]
      + (1..<4_094).map { #"{"from": "n\#($0 - 1)", "to": "n\#($0)"}"# }
    let end = #"{"from": "n4093", "to": "out"}"#
    check(document(nodes: nodes, edges: edges + [end]), code: nil, "line")
    check(
      document(nodes: nodes, edges: edges + [end.replacing("out", with: "n0")]), code: "cycle",
      "circle")
    check(
      document(nodes: nodes, edges: edges + [end.replacing("out", with: "ouch")]),
      code: "unknownNode", "unknown")
    let more = nodes + [#"{"id": "one-more", "kind": "grey"}"#]
    check(document(nodes: more, edges: edges + [end]), code: "tooLarge", "one more")
  }

  @Test func `4,096 nodes with long names, and one of them misspelt`() {
    let name = String(repeating: "x", count: 58)
    let nodes = (0..<4_094).map { #"{"id": "\#(name)\#(1_000 + $0)", "kind": "results"}"# }
    let edges = (0..<4_094).map { #"{"from": "camera", "to": "\#(name)\#(1_000 + $0)"}"# }
    let misspelt = [#"{"from": "camera", "to": "\#(name)x1"}"#]
    check(
      document(nodes: [Self.ends.nodes[0]] + nodes, edges: edges + misspelt), code: "unknownNode",
      "misspelt")
    let other = [#"{"from": "camera", "to": "\#(String(repeating: "y", count: 62))"}"#]
    check(
      document(nodes: [Self.ends.nodes[0]] + nodes, edges: edges + other), code: "unknownNode",
      "nothing like it")
    check(document(nodes: [Self.ends.nodes[0]] + nodes, edges: edges), code: nil, "star")
  }

  @Test func `a shared executor and a pool each for thousands of nodes`() {
    let nodes = (0..<4_000).map {
      #"{"id": "n\#($0)", "kind": "grey", "executor": "e\#($0)", "pool": "p\#($0 % 250)"}"#
    }
    let edges =
      [#"{"from": "camera", "to": "n0"}"#, #"{"from": "n3999", "to": "out"}"#]
      + (1..<4_000).map { #"{"from": "n\#($0 - 1)", "to": "n\#($0)"}"# }
    let executors = (0..<4_000).map { #"{"id": "e\#($0)"}"# }
    let pools = (0..<250).map { #"{"id": "p\#($0)"}"# }
    check(
      document(
        nodes: Self.ends.nodes + nodes, edges: edges,
        more: #", "executors": [\#(executors.joined(separator: ","))], "#
          + #""pools": [\#(pools.joined(separator: ","))]"#), code: nil, "services")
    check(
      document(
        nodes: Self.ends.nodes + nodes, edges: edges,
        more: #", "executors": [\#(executors.dropLast().joined(separator: ","))], "#
          + #""pools": [\#(pools.joined(separator: ","))]"#),
      code: "unknownExecutor", "missing executor")
  }

  /// Each view keeps the leases of the view before, and each join doubles its output.
  @Test func `leases that add up along two thousand nodes and come to a thousand joins`() {
    let views = (0..<2_000).map { #"{"id": "v\#($0)", "kind": "view", "pool": "p"}"# }
    let joins = (0..<1_000).map { #"{"id": "j\#($0)", "kind": "join"}"# }
    let sinks = (0..<1_000).map { #"{"id": "s\#($0)", "kind": "results"}"# }
    var edges = [#"{"from": "camera", "to": "v0"}"#]
    for index in 1..<2_000 { edges.append(#"{"from": "v\#(index - 1)", "to": "v\#(index)"}"#) }
    for index in 0..<1_000 {
      edges.append(#"{"from": "v1999", "to": "j\#(index).left"}"#)
      edges.append(#"{"from": "v\#(index)", "to": "j\#(index).right"}"#)
      edges.append(#"{"from": "j\#(index)", "to": "s\#(index)"}"#)
    }
    let document = self.document(
      nodes: [Self.ends.nodes[0]] + views + joins + sinks, edges: Array(edges.prefix(4_096)),
      more: #", "pools": [{"id": "p", "capacity": 1999}]"#)
    check(document, code: "missing", "more edges than an array holds")
    let fewer = (0..<600).map { $0 }
    let short = self.document(
      nodes: [Self.ends.nodes[0]] + views + fewer.map { joins[$0] } + fewer.map { sinks[$0] },
      edges: Array(edges.prefix(2_000 + 1_800)),
      more: #", "pools": [{"id": "p", "capacity": 1999}]"#)
    check(short, code: "wrongValue", "a pool that is one too small")
  }

  @Test func `joins of joins are bounded`() {
    func doubling(_ depth: Int) -> Data {
      let joins = (0..<depth).map { #"{"id": "j\#($0)", "kind": "join"}"# }
      var edges = [#"{"from": "j\#(depth - 1)", "to": "out"}"#]
      for index in 0..<depth {
        let from = index == 0 ? "camera" : "j\(index - 1)"
        edges.append(#"{"from": "\#(from)", "to": "j\#(index).left"}"#)
        edges.append(#"{"from": "\#(from)", "to": "j\#(index).right"}"#)
      }
      return document(nodes: Self.ends.nodes + joins, edges: edges)
    }
    check(doubling(8), code: nil, "256 values")
    check(doubling(9), code: "tooLarge", "512 values")
    check(doubling(1_300), code: "tooLarge", "2 to the power of 1300 values")
  }

  @Test func `a type that does not fit behind many joins is named shortly`() throws {
    let joins = (0..<8).map { #"{"id": "j\#($0)", "kind": "join"}"# }
    var edges = [#"{"from": "j7", "to": "grey"}"#, #"{"from": "grey", "to": "out"}"#]
    for index in 0..<8 {
      let from = index == 0 ? "camera" : "j\(index - 1)"
      edges.append(#"{"from": "\#(from)", "to": "j\#(index).left"}"#)
      edges.append(#"{"from": "\#(from)", "to": "j\#(index).right"}"#)
    }
    let data = document(
      nodes: Self.ends.nodes + joins + [#"{"id": "grey", "kind": "grey"}"#], edges: edges)
    let error = #expect(throws: PipelineError.self) {
      try PipelineDocument.parse(data, catalog: TestCatalog())
    }
    #expect(error?.message == "'j7' returns joined(joined, joined), but 'grey' takes frame")
  }

  @Test func `thousands of routes, bodies, and the largest texts`() {
    let routes = (0..<2_000).map { #"{"id": "r\#($0)", "kind": "split"}"# }
    let sinks = (0..<2_000).map { #"{"id": "s\#($0)", "kind": "results"}"# }
    var edges = [#"{"from": "camera", "to": "r0"}"#, #"{"from": "r1999.left", "to": "out"}"#]
    for index in 0..<2_000 { edges.append(#"{"from": "r\#(index).right", "to": "s\#(index)"}"#) }
    for index in 1..<2_000 { edges.append(#"{"from": "r\#(index - 1).left", "to": "r\#(index)"}"#) }
    check(document(nodes: Self.ends.nodes + routes + sinks, edges: edges), code: nil, "routes")

    let inner = (0..<40).map { #"{"id": "c\#($0)", "kind": "view"}"# }.joined(separator: ",")
    let bodies = (0..<4_000).map {
      #"{"id": "f\#($0)", "kind": "forEach", "body": {"nodes": [\#(inner)], "output": "c0"}}"#
    }
    check(
      document(nodes: Array(bodies.prefix(1_500)), edges: []), code: "tooLarge",
      "more nodes in bodies than a pipeline may have")
    check(document(nodes: bodies, edges: []), code: "tooLarge", "more than 2 MiB")

    let name = String(repeating: "\\n", count: 1_000_000)
    check(Data(#"{"v": 1, "name": "\#(name)", "nodes": 0}"#.utf8), code: "wrongValue", "escapes")
    let key = String(repeating: "k", count: 2_000_000)
    check(Data(#"{"v": 1, "\#(key)": 0}"#.utf8), code: "unknownKey", "key")
    check(Data(#"{"v": 1, "nodes": [{"id": "\#(key)"}]}"#.utf8), code: "wrongValue", "id")
    check(
      Data(#"{"v": 1, "nodes": [{"id": "a", "kind": "\#(key)"}]}"#.utf8), code: "unknownKind",
      "kind")
  }
}
