import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTestCatalog
import Testing

@Suite struct DocumentTests {
  private func parse(_ text: String) throws -> Pipeline {
    try PipelineDocument.parse(Data(text.utf8), catalog: TestCatalog())
  }

  @Test func `a document says what there is, how it is connected and what it costs`() throws {
    let pipeline = try parse(Documents.motion)
    #expect(pipeline.name == "motion-boxes")
    #expect(
      pipeline.nodes.map(\.id) == ["camera", "grey", "slow", "motion", "level", "values"])
    #expect(pipeline.node("motion")?.cost == .fixed(.milliseconds(45)))
    #expect(
      pipeline.node("level")?.cost == .uniform(.milliseconds(1), .microseconds(1_500)))
    #expect(pipeline.node("motion")?.executor == "vision")
    #expect(pipeline.node("motion")?.stage.options["threshold"] == .integer(24))
    #expect(pipeline.node("values")?.precision == ["box": 0.1, "score": 0.0001])
    #expect(pipeline.node("values")?.isPrimary == true)
    #expect(pipeline.edges.map(\.capacity) == [3, 3, 1, 5, 3])
    #expect(pipeline.edges.map(\.policy) == [.block, .dropNewest, .replace, .block, .block])
    #expect(pipeline.executors == [PipelineExecutor(id: "vision", count: 2)])
  }

  @Test func `the canonical document reads back as the same pipeline`() throws {
    let pipeline = try parse(Documents.motion)
    let canonical = try PipelineDocument.json(of: pipeline).canonicalText
    let again = try parse(canonical)
    #expect(try PipelineDocument.json(of: again).canonicalText == canonical)
    #expect(again.digest == pipeline.digest)
    #expect(canonical.hasPrefix(#"{"edges":[{"from":"camera","to":"grey"},"#))
    #expect(canonical.contains(#""cost":{"uniform":["1ms","1500us"]}"#))
    #expect(canonical.contains(#"{"capacity":1,"from":"slow","policy":"replace","to":"motion"}"#))
    #expect(canonical.contains(#""options":{"areaMin":2,"classes":["motion"],"#))
    #expect(!canonical.contains(" "))
  }

  @Test func `the digest does not hear of names and costs, and hears of all the rest`() throws {
    let digest = try parse(Documents.motion).digest
    func changed(_ old: String, _ new: String) throws -> Digest128 {
      #expect(Documents.motion.contains(old))
      return try parse(Documents.motion.replacing(old, with: new)).digest
    }
    #expect(try changed("motion-boxes", "other") == digest)
    #expect(try changed(#""fixed": "45ms""#, #""p50": "45ms", "p99": "90ms""#) == digest)
    #expect(try changed(#", "options": {"track": 0}"#, "") == digest)
    let meant = [
      (#""threshold": 24"#, #""threshold": 26"#), (#""track": 0"#, #""track": 1"#),
      (#""policy": "dropNewest""#, #""policy": "dropOldest""#),
      (#""capacity": 5"#, #""capacity": 4"#), (#""count": 2"#, #""count": 3"#),
      (#""box": 0.1"#, #""box": 0.01"#), (#", "primary": true"#, #", "primary": false"#),
      (#""level""#, #""light""#),
    ]
    let digests = try meant.map { try changed($0.0, $0.1) }
    #expect(Set(digests + [digest]).count == meant.count + 1)
  }

  @Test func `a closure has no document`() throws {
    let source = try TestCatalog().make(kind: "session", options: .object([:]))
    let sink = try TestCatalog().make(kind: "results", options: .object([:]))
    let pipeline = Pipeline.named("p").source(source)
      .map("count") { (_: Frame, _) in Scalars([]) }.sink(sink)
    let error = #expect(throws: PipelineError.self) { try PipelineDocument.json(of: pipeline) }
    #expect(error?.reason == .notExportable("count", .pure))
    #expect(error?.advice?.contains("PureStage") == true)
    #expect(error?.pointer == "/nodes/1")
    try pipeline.validate()
  }

  @Test func `the file is named in the error`() {
    let error = #expect(throws: PipelineError.self) {
      try PipelineDocument.parse(Data("[]".utf8), catalog: TestCatalog(), file: "P/motion.json")
    }
    #expect(
      error?.description == "P/motion.json, at /: must be an object, is an array. "
        + "Print a complete document: retake pipeline example motion-boxes")
  }
}
