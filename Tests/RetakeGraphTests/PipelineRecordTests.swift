import Foundation
import Testing

@testable import RetakeGraph

/// The document that is stored next to results.
@Suite struct PipelineRecordTests {
  @Test(arguments: [Documents.motion, Documents.yard])
  func `what is kept reads back with the pipeline's digest, and the same bytes again`(
    document: String
  ) throws {
    let pipeline = try Documents.parse(document)
    let record = PipelineRecord(pipeline)
    let again = try PipelineRecord(parsing: Data(record.text.utf8))
    #expect(again.digest == pipeline.digest && again.name == pipeline.name)
    #expect(again.text == record.text)
    // It is a document like any other.
    let reread = try Documents.parse(record.text)
    #expect(PipelineRecord(reread).text == record.text)
  }

  @Test func `each node and edge has a line of its own, its id first`() throws {
    let text = PipelineRecord(try Documents.parse(Documents.motion)).text
    let lines = text.split(separator: "\n").map(String.init)
    #expect(
      lines.prefix(4) == [
        #"{"v": 1,"#, #" "name": "motion-boxes","#, #" "nodes": ["#,
        #"  {"id": "camera", "kind": "session", "options": {"track":0}},"#,
      ])
    #expect(
      lines.contains(#"  {"from": "grey", "to": "slow", "policy": "dropNewest"},"#), "\(text)")
    #expect(lines.last == #"  {"id": "vision", "count": 2}]}"#)
    #expect(lines.count == 3 + 6 + 1 + 5 + 1 + 1 && text.hasSuffix("}\n"))
  }

  @Test func `costs and the name are no part of the digest, also inside a forEach`() throws {
    let record = PipelineRecord(try Documents.parse(Documents.yard))
    var plain = record.withoutCosts
    #expect(record.hasCosts && !plain.hasCosts && !plain.text.contains("cost"))
    plain.name = "another"
    #expect(plain.digest == record.digest && plain.text != record.text)
    #expect(plain.kinds["each/name"] == "labels" && plain.kinds["boxes"] == "results")
  }

  @Test func `what is not a document of this version is refused`() {
    for (text, code) in [
      ("", "malformed"), ("[]", "wrongValue"), ("{}", "missingKey"), (#"{"v": 2}"#, "newerVersion"),
      (#"{"v": "1"}"#, "wrongValue"),
    ] {
      let error = #expect(throws: PipelineError.self) {
        try PipelineRecord(parsing: Data(text.utf8))
      }
      #expect(error?.code == "graph.pipeline.\(code)", "\(text)")
    }
    let large = #"{"v": 1, "name": "\#(String(repeating: "x", count: PipelineDocument.bytesMax))"}"#
    #expect(throws: PipelineError.self) { try PipelineRecord(parsing: Data(large.utf8)) }
  }
}
