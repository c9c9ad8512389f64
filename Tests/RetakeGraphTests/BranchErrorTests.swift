import Foundation
import RetakeCore
import RetakeGraph
import Testing

/// Invalid documents with branches, joins, forEach, routes, pools and services.
@Suite struct BranchErrorTests {
  private func check(_ wrong: [Wrong]) { Wrong.check(wrong, in: Documents.yard) }

  @Test func `ports that are missing, unknown, doubled or left out`() {
    check([
      Wrong(
        #""to": "pairs.detections"}"#, #""to": "pairs.boxes"}"#, "wrongValue", "/edges/3/to",
        "'pairs' has no port 'boxes'"),
      Wrong(
        #""to": "pairs.detections"}"#, #""to": "pairs"}"#, "wrongValue", "/edges/3/to",
        "Name one: \"pairs.frame\""),
      Wrong(
        #""to": "pairs.detections"}"#, #""to": "pairs.frame"}"#, "unsupported", "/edges/3",
        "the port 'frame' of 'pairs' has 2 inputs"),
      Wrong(
        #"{"from": "motion", "to": "pairs.detections"}"#,
        #"{"from": "motion", "to": "boxes"}"#, "missing", "/nodes/4",
        "no edge leads to the port 'detections' of 'pairs'"),
      Wrong(
        #"{"from": "rear", "to": "shown.frame"}"#,
        #"{"from": "rear", "to": "shown.frame"}, {"from": "camera", "to": "shown.frame"}"#,
        "unsupported", "/edges/11", "the port 'frame' of 'shown' has 2 inputs"),
      Wrong(
        #""from": "split.few""#, #""from": "split.fw""#, "wrongValue", "/edges/6/from",
        "Did you mean 'few'?"),
      Wrong(
        #""from": "split.few""#, #""from": "split""#, "wrongValue", "/edges/6/from",
        "Name one: \"split.few\""),
      Wrong(
        #""from": "grey", "to": "motion""#, #""from": "grey.a", "to": "motion""#, "wrongValue",
        "/edges/1/from", "'grey' has one port only"),
      Wrong(
        #"["frame", "level"]"#, #"["frame"]"#, "badOption", "/nodes/9/options/ports",
        "node has 2 to 16"),
      Wrong(
        #""options": {"ports": ["frame", "level"]}"#,
        #""options": {"ports": ["frame", "frame"]}"#, "badOption", "/nodes/9/options/ports/1",
        "'shown' has two ports 'frame'"),
      Wrong(
        #""options": {"mode": "all", "ports": ["frame", "detections"]}"#,
        #""options": {"ports": ["frame", "detections", "a.b"]}"#, "badOption",
        "/nodes/4/options/ports/2", "'a.b' is not a port of 'pairs'"),
    ])
  }

  @Test func `edges reach no further than their own level`() {
    check([
      Wrong(
        #""from": "pairs", "to": "each""#, #""from": "pairs", "to": "each/crop""#, "unknownNode",
        "/edges/4/to", "there is no node 'each/crop'"),
      Wrong(
        #""from": "crop", "to": "name""#, #""from": "crop", "to": "grey""#, "unknownNode",
        "/nodes/5/body/edges/0/to", "there is no node 'grey'"),
      Wrong(
        #""from": "crop", "to": "name""#, #""from": "crp", "to": "name""#, "unknownNode",
        "/nodes/5/body/edges/0/from", "Did you mean 'crop'?"),
    ])
  }

  @Test func `bodies that are no line of stages`() {
    check([
      Wrong(
        #""output": "name""#, #""output": "crop""#, "unsupported", "/nodes/5/body/edges/0",
        "the output of 'crop' has two edges"),
      Wrong(
        #""output": "name""#, #""output": "nam""#, "unknownNode", "/nodes/5/body/output", "name"),
      Wrong(
        #"[{"from": "crop", "to": "name", "capacity": 5}]"#, "[]", "unsupported",
        "/nodes/5/body/nodes/1", "no edge leads to 'name', but the line begins at 'crop'"),
      Wrong(
        #"{"from": "crop", "to": "name", "capacity": 5}"#,
        #"{"from": "crop", "to": "name"}, {"from": "crop", "to": "name"}"#, "unsupported",
        "/nodes/5/body/edges/1", "the output of 'crop' has two edges"),
      Wrong(
        #"{"from": "crop", "to": "name", "capacity": 5}"#,
        #"{"from": "crop", "to": "name", "policy": "dropOldest"}"#, "wrongValue",
        "/nodes/5/body/edges/0/policy", "an item is never dropped"),
      Wrong(
        #""kind": "labels", "cost""#, #""kind": "join", "cost""#, "unsupported",
        "/nodes/5/body/nodes/1", "'name' is a join node, and the body of a forEach has no branches"),
      Wrong(
        #""kind": "labels", "cost""#, #""kind": "sample", "cost""#, "unsupported",
        "/nodes/5/body/nodes/1", "'name' is a sample node, and the body of a forEach is a line"),
      Wrong(
        #"{"id": "crop", "kind": "crop", "cost": {"fixed": "1ms"}}"#,
        #"{"id": "crop", "kind": "forEach", "body": {"nodes": [], "edges": [], "output": "x"}}"#,
        "unsupported", "/nodes/5/body/nodes/0",
        "'crop' is a forEach, and a forEach cannot be in the body of another"),
      Wrong(
        #""id": "crop", "kind": "crop""#, #""id": "join", "kind": "crop""#, "wrongValue",
        "/nodes/5/body/nodes/0/id", "the id 'join' is reserved for the end of the forEach 'each'"),
      Wrong(
        #""id": "crop", "kind": "crop""#, #""id": "name", "kind": "crop""#, "duplicateID",
        "/nodes/5/body/nodes/1/id", "a different id"),
      Wrong(
        #""kind": "forEach", "body""#, #""kind": "forEach", "options": {"x": 1}, "body""#,
        "badOption", "/nodes/5/options", "Write them at the nodes of its body"),
    ])
    let whole = Documents.yard
    let start = whole.range(of: #""nodes": [\#n    {"id": "crop""#)?.lowerBound
    let end = whole.range(of: #""output": "name""#)?.lowerBound
    if let start, let end {
      let text = whole.replacingCharacters(in: start..<end, with: #""nodes": [], "edges": [], "#)
      let error = #expect(throws: PipelineError.self) { try Documents.parse(text) }
      #expect(error?.pointer == "/nodes/5/body/nodes")
      #expect(error?.message == "the body of the forEach has no nodes")
    }
    #expect(start != nil && end != nil)
  }

  @Test func `circles, through bodies too`() {
    check([
      Wrong(
        #"{"from": "camera", "to": "grey"}"#, #"{"from": "each", "to": "grey"}"#, "cycle",
        "/edges/2", "grey → pairs → each → grey"),
      Wrong(
        #"{"id": "crop", "kind": "crop", "cost": {"fixed": "1ms"}}"#,
        #"{"id": "crop", "kind": "crop"}, {"id": "a", "kind": "view"}, {"id": "b", "kind": "view"}"#,
        "unsupported", "/nodes/5/body/nodes/1", "no edge leads to 'a'"),
      Wrong(
        #""edges": [{"from": "crop", "to": "name", "capacity": 5}]"#,
        #""edges": [{"from": "name", "to": "crop"}]"#, "unsupported",
        "/nodes/5/body/edges/0", "the output of 'name' has two edges"),
    ])
    let circle = Documents.yard.replacing(
      #"{"id": "crop", "kind": "crop", "cost": {"fixed": "1ms"}}"#,
      with:
        #"{"id": "crop", "kind": "crop"}, {"id": "a", "kind": "view"}, {"id": "b", "kind": "view"}"#
    ).replacing(
      #"{"from": "crop", "to": "name", "capacity": 5}"#,
      with:
        #"{"from": "crop", "to": "name"}, {"from": "a", "to": "b"}, {"from": "b", "to": "a"}"#)
    let error = #expect(throws: PipelineError.self) { try Documents.parse(circle) }
    #expect(error?.reason == .cycle(["each/a", "each/b", "each/a"]))
    #expect(error?.pointer == "/nodes/5/body/edges/1")
  }

  @Test func `types along joins and forEach`() {
    check([
      Wrong(
        #""kind": "crop", "cost""#, #""kind": "view", "cost""#, "typeMismatch",
        "/nodes/5/body", "'each' returns region, but 'each/crop' takes frame"),
      Wrong(
        #"{"from": "pairs", "to": "each"}"#, #"{"from": "grey", "to": "each"}"#, "missing",
        "/nodes/4", "the output of 'pairs' has no edge"),
      Wrong(
        #"{"id": "level", "kind": "brightness", "pinned": true}"#,
        #"{"id": "level", "kind": "fusion"}"#, "typeMismatch", "/edges/8",
        "'third' returns detections, but 'level' takes joined"),
      Wrong(
        #""kind": "labels", "cost""#, #""kind": "view", "cost""#, "typeMismatch", "/edges/8",
        "'third' returns items, but 'level' takes detections"),
    ])
    let notJoined = Documents.yard.replacing(
      #""kind": "boxes", "options": {"threshold": 24}"#, with: #""kind": "tiles""#)
    let error = #expect(throws: PipelineError.self) { try Documents.parse(notJoined) }
    #expect(error?.pointer == "/edges/4")
    #expect(
      error?.message
        == "the forEach 'each' receives joined(frame, tile-map@2), and takes a frame joined with "
        + "detections")
    #expect(error?.advice == "Put a join with the ports frame and detections before it")
  }

  @Test func `joins that can never have all their values`() {
    check([
      Wrong(
        #"{"from": "grey", "to": "pairs.frame", "capacity": 8}"#,
        #"{"from": "rear", "to": "pairs.frame"}"#, "unsupported", "/edges/3",
        "'pairs' would pair frames of 'rear' with frames of 'camera'"),
      Wrong(
        #""kind": "latest", "options": {"ports": ["frame", "level"]}"#,
        #""kind": "join", "options": {"ports": ["frame", "level"]}"#, "unsupported", "/edges/9",
        "Use a node of kind 'latest' to combine sources"),
    ])
    let met = Documents.yard.replacing(
      #"{"from": "split.few", "to": "boxes"}"#,
      with: #"{"from": "split.few", "to": "met.a"}, {"from": "level", "to": "met.b"}, "#
        + #"{"from": "met", "to": "boxes"}"#)
    func parse(mode: String) throws -> Pipeline {
      try Documents.parse(
        met.replacing(
          #"{"id": "split""#,
          with: #"{"id": "met", "kind": "join", "options": {"mode": "\#(mode)", "ports": "#
            + #"["a", "b"]}}, {"id": "split""#))
    }
    #expect(throws: Never.self) { try parse(mode: "any") }
    let error = #expect(throws: PipelineError.self) { try parse(mode: "all") }
    #expect(error?.pointer == "/edges/7")
    #expect(
      error?.message
        == "'met' would wait for frames on several ports, and 'split' sends each frame to one")
    #expect(error?.advice == "Set the mode of 'met' to any")
  }
}
