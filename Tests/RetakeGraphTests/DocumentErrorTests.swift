import Foundation
import RetakeCore
import RetakeGraph
import RetakeTestCatalog
import Testing

/// Invalid documents: each error has its code, its place, and advice.
@Suite struct DocumentErrorTests {
  private func check(_ wrong: [Wrong], in document: String = Documents.motion) {
    Wrong.check(wrong, in: document)
  }

  @Test func `texts that are no documents`() {
    check([
      Wrong(#"{"v": 1"#, "x", "malformed", "", "not a pipeline document"),
      Wrong(#"{"v": 1"#, "", "malformed", "", "retake pipeline example"),
      Wrong(#""v": 1"#, #""v": 2"#, "newerVersion", "/v", "version 2; this Retake reads version 1"),
      Wrong(
        #""v": 1"#, #""v": 2, "stages": []"#, "newerVersion", "/v",
        "version 2; this Retake reads version 1"),
      Wrong(#""v": 1"#, #""v": 0"#, "wrongValue", "/v", "Write 1"),
      Wrong(#""v": 1, "#, "", "missingKey", "", "Add \"v\""),
      Wrong(#""v": 1"#, #""v": "1""#, "wrongValue", "/v", "must be an integer, is a string"),
    ])
  }

  @Test func `keys and values that are not right`() {
    check([
      Wrong(#""nodes""#, #""node""#, "unknownKey", "/node", "Did you mean 'nodes'?"),
      Wrong(#""policy""#, #""polcy""#, "unknownKey", "/edges/1/polcy", "Did you mean 'policy'?"),
      Wrong(
        #""count": 2"#, #""a/b~": 2"#, "unknownKey", "/executors/0/a~1b~0", "Known: id, count"),
      Wrong(#""id": "grey", "#, "", "missingKey", "/nodes/1", "Add \"id\""),
      Wrong(#""from": "grey", "#, "", "missingKey", "/edges/1", "Add \"from\""),
      Wrong(#""grey", "kind""#, #""Grey", "kind""#, "wrongValue", "/nodes/1/id", "lower-case"),
      Wrong(
        #""dropNewest""#, #""dropNew""#, "wrongValue", "/edges/1/policy", "Did you mean"),
      Wrong(#""capacity": 5"#, #""capacity": 0"#, "wrongValue", "/edges/3/capacity", "1 to 65536"),
      Wrong(
        #""policy": "replace""#, #""policy": "replace", "capacity": 2"#, "wrongValue",
        "/edges/2/capacity", "A replace edge has capacity 1"),
      Wrong(#""count": 2"#, #""count": 0"#, "wrongValue", "/executors/0/count", "1 to 1024"),
      Wrong(#""fixed": "45ms""#, #""fixed": "45""#, "wrongValue", "/nodes/3/cost/fixed", "45ms"),
      Wrong(#""fixed": "45ms""#, #""p50": "45ms""#, "wrongValue", "/nodes/3/cost", "p50 with p99"),
      Wrong(
        #""fixed": "45ms""#, #""p50": "45ms", "p99": "1ms""#, "wrongValue", "/nodes/3/cost",
        "at most p99"),
      Wrong(
        #"["1ms", "1500us"]"#, #"["2ms", "1500us"]"#, "wrongValue", "/nodes/4/cost/uniform",
        "the smaller first"),
      Wrong(
        #""fixed": "45ms""#, #""fixed": "999999s""#, "wrongValue", "/nodes/3/cost",
        "at most an hour"),
      Wrong(#""box": 0.1"#, #""box": "x""#, "wrongValue", "/nodes/5/precision/box", "a number"),
      Wrong(
        #""primary": true"#, #""primary": 1"#, "wrongValue", "/nodes/5/primary", "true or false"),
      Wrong(
        #""from": "grey""#, #""from": "grey.luma""#, "wrongValue", "/edges/1/from",
        "Leave out the port's name"),
    ])
  }

  @Test func `stages and options that are not there`() {
    check([
      Wrong(
        #""kind": "boxes""#, #""kind": "boxs""#, "unknownKind", "/nodes/3/kind",
        "Did you mean 'boxes'?"),
      Wrong(
        #""threshold""#, #""treshold""#, "badOption", "/nodes/3/options/treshold",
        "Did you mean 'threshold'?"),
      Wrong(#""threshold""#, #""a/b""#, "badOption", "/nodes/3/options/a~1b", "no option 'a/b'"),
      Wrong(
        #""threshold": 24"#, #""threshold": "24""#, "badOption", "/nodes/3/options/threshold",
        "must be an integer, is a string"),
      Wrong(
        #""threshold": 24"#, #""threshold": 24.5"#, "badOption", "/nodes/3/options/threshold",
        "must be an integer, is a number"),
      Wrong(
        #""threshold": 24"#, #""classes": [1]"#, "badOption", "/nodes/3/options/classes/0",
        "String"),
      Wrong(
        #"{"track": 0}"#, #"[0]"#, "badOption", "/nodes/0/options", "must be an object"),
      Wrong(
        #""kind": "grey""#, #""kind": "forEach""#, "missingKey", "/nodes/1",
        "Add \"body\""),
      Wrong(
        #""kind": "grey""#, #""kind": "grey", "body": {}"#, "wrongValue", "/nodes/1/body",
        "Only a forEach has one"),
    ])
  }

  @Test func `graphs that are none`() {
    check([
      Wrong(
        #""id": "slow""#, #""id": "grey""#, "duplicateID", "/nodes/2/id", "a different id"),
      Wrong(
        #"{"id": "vision", "count": 2}"#, #"{"id": "vision"}, {"id": "vision"}"#, "duplicateID",
        "/executors/1/id", "'vision' is used twice"),
      Wrong(
        #""from": "grey""#, #""from": "gray""#, "unknownNode", "/edges/1/from",
        "Did you mean 'grey'?"),
      Wrong(
        #""id": "vision""#, #""id": "vison""#, "unknownExecutor", "/nodes/3/executor",
        "Did you mean 'vison'?"),
      Wrong(
        #"{"from": "camera", "to": "grey"}"#, #"{"from": "motion", "to": "grey"}"#, "cycle",
        "/edges/1", "grey → slow → motion → grey"),
      Wrong(
        #"{"from": "camera", "to": "grey"}"#, #"{"from": "grey", "to": "grey"}"#, "cycle",
        "/edges/0", "grey → grey"),
      Wrong(
        #"{"from": "motion", "to": "level", "capacity": 5},"#, "", "missing",
        "/nodes/3", "the output of 'motion' has no edge"),
      Wrong(
        #"{"from": "motion", "to": "level", "capacity": 5}"#,
        #"{"from": "grey", "to": "level"}"#, "missing", "/nodes/3",
        "the output of 'motion' has no edge"),
      Wrong(
        #"{"from": "camera", "to": "grey"}"#,
        #"{"from": "camera", "to": "grey"}, {"from": "camera", "to": "grey"}"#, "unsupported",
        "/edges/1", "'grey' has 2 inputs"),
      Wrong(
        #"{"from": "level", "to": "values"}"#,
        #"{"from": "level", "to": "values"}, {"from": "values", "to": "camera"}"#, "cycle",
        "/edges/0", "camera → grey → slow → motion → level → values → camera"),
      Wrong(
        #""kind": "boxes", "options": {"threshold": 24, "areaMin": 2}"#, #""kind": "tiles""#,
        "typeMismatch", "/edges/3", "'motion' returns tile-map@2, but 'level' takes detections"),
      Wrong(
        #"{"id": "grey", "kind": "grey"}"#, #"{"id": "grey", "kind": "brightness"}"#,
        "typeMismatch", "/edges/0", "Put a stage between them"),
      Wrong(
        #""kind": "session", "options": {"track": 0}"#, #""kind": "grey""#, "unreachable",
        "/nodes/0", "Connect 'camera' to a source"),
      Wrong(
        #""kind": "results", "primary": true,"#, #""kind": "grey","#, "missing", "/nodes/5",
        "Add an edge to a sink"),
      Wrong(
        #""id": "grey", "#, #""id": "grey", "primary": true, "#, "wrongValue", "/nodes/1/primary",
        "'grey' is not a sink"),
    ])
  }

  @Test func `empty and enormous documents`() {
    func error(_ text: String) -> PipelineError? {
      #expect(throws: PipelineError.self) {
        try PipelineDocument.parse(Data(text.utf8), catalog: TestCatalog())
      }
    }
    let empty = error(#"{"v": 1}"#)
    #expect(empty?.code == "graph.pipeline.missing")
    #expect(empty?.pointer == "/nodes")
    #expect(empty?.advice == "Add a source, a stage and a sink")
    let nodes = String(repeating: "0,", count: 4_096) + "0"
    let many = error(#"{"v": 1, "nodes": [\#(nodes)]}"#)
    #expect(many?.code == "graph.pipeline.tooLarge")
    #expect(many?.pointer == "/nodes")
    let long = error(#"{"v": 1, "name": "\#(String(repeating: "x", count: 5 << 20))"}"#)
    #expect(long?.code == "graph.pipeline.tooLarge")
    #expect(error(String(repeating: "[", count: 100_000))?.code == "graph.pipeline.malformed")
    #expect(error("\u{feff}{}")?.code != nil)
  }

  /// Following each node back to its source would last minutes.
  @Test func `the longest line that a document can hold is checked in one pass`() throws {
    let count = 4_000
    func text(last: String) -> String {
      let nodes = (0..<count).map { #"{"id": "t\#($0)", "kind": "throttle"}"# }
      let edges = (1..<count).map { #"{"from": "t\#($0 - 1)", "to": "t\#($0)"}"# }
      return #"""
        {"v": 1, "nodes": [{"id": "camera", "kind": "session"}, {"id": "end", "kind": "\#(last)"},
          {"id": "sink", "kind": "results"}, \#(nodes.joined(separator: ","))],
         "edges": [{"from": "camera", "to": "t0"}, {"from": "t\#(count - 1)", "to": "end"},
          {"from": "end", "to": "sink"}, \#(edges.joined(separator: ","))]}
        """#
    }
    let line = try PipelineDocument.parse(Data(text(last: "boxes").utf8), catalog: TestCatalog())
    #expect(line.nodes.count == count + 3)
    let error = #expect(throws: PipelineError.self) {
      try PipelineDocument.parse(Data(text(last: "brightness").utf8), catalog: TestCatalog())
    }
    #expect(
      error?.reason
        == .typeMismatch(from: "t\(count - 1)", gives: "frame", to: "end", takes: "detections"))
  }
}
