#if compiler(>=6.3)
  import CRetake
  import Foundation
  import Retake
  import RetakeTestSupport
  import Testing

  @testable import RetakeC

  /// The same pipeline in Swift, as a document in C, and in Python: one digest of the document, and
  /// one of the results.
  @Suite struct FormsTests {
    private struct Digests: Hashable, CustomStringConvertible {
      var document: String
      var results: String
      var delivered: Int

      var description: String { "\(document) \(results) \(delivered)" }
    }

    private static let pipeline = Pipeline.named("watch").source(.session())
      .gray().motion(threshold: 20).queue(capacity: 3, policy: .dropNewest).results("boxes")

    private static let document = """
      {"v": 1, "name": "watch", "nodes": [
        {"id": "camera", "kind": "session"}, {"id": "grey", "kind": "grey"},
        {"id": "motion", "kind": "motion", "options": {"threshold": 20}},
        {"id": "boxes", "kind": "results", "primary": true}],
       "edges": [{"from": "camera", "to": "grey"},
        {"from": "grey", "to": "motion", "capacity": 3, "policy": "dropNewest"},
        {"from": "motion", "to": "boxes"}]}
      """

    private static let program = """
      import sys, retake
      pipeline = (retake.source(name="watch").gray().motion(threshold=20)
                  .queue(3, "dropNewest").results("boxes"))
      frames = []
      summary = pipeline.replay(sys.argv[1], frames.append)
      assert summary.document_digest == pipeline.digest()
      assert len(frames) == summary.counts.captured
      assert [f.sequence for f in frames] == list(range(len(frames)))
      print(summary.document_digest, summary.result_digest, summary.counts.delivered)
      """

    private func inSwift() throws -> Digests {
      let session = try SessionReader(opening: Figures.session.path)
      let replay = try Replay(
        Self.pipeline, reader: session, catalog: StageRegistry.builtIn,
        request: Replay.Request(sessionName: "figures", caseName: "watch"))
      let summary = try replay.run()
      return Digests(
        document: Self.pipeline.digest.description, results: summary.resultDigest.description,
        delivered: summary.frames.delivered)
    }

    private func inC(_ document: String) throws -> Digests {
      var summary = retake_replay_summary()
      summary.size = MemoryLayout<retake_replay_summary>.size
      let status = retake_replay(
        Figures.session.path, document, document.utf8.count, nil, &summary)
      try #require(status == RETAKE_OK)
      var digest = [CChar](repeating: 0, count: Int(RETAKE_DIGEST_SIZE))
      try #require(
        retake_document_digest(document, document.utf8.count, 0, &digest) == RETAKE_OK)
      let document = withUnsafeBytes(of: summary.document_digest) {
        String(decoding: $0.dropLast(), as: UTF8.self)
      }
      #expect(
        String(decoding: digest.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self) == document)
      return Digests(
        document: document,
        results: withUnsafeBytes(of: summary.result_digest) {
          String(decoding: $0.dropLast(), as: UTF8.self)
        }, delivered: Int(summary.counts.delivered))
    }

    private func inPython() throws -> Digests {
      let result = try Python.run(Self.program, arguments: [Figures.session.path])
      try #require(result.status == 0, "\(result.stderr)")
      let words = result.stdout.split { $0.isWhitespace }.map(String.init)
      try #require(words.count == 3)
      return Digests(document: words[0], results: words[1], delivered: Int(words[2]) ?? -1)
    }

    @Test func `Swift and a document in C give one digest each`() throws {
      let swift = try inSwift()
      #expect(swift.delivered > 200)
      #expect(try inC(Self.document) == swift)
      #expect(try inC(Self.pipeline.json.canonicalText) == swift)
      // The comparison can fail: another threshold is another pipeline, with other results.
      let other = try inC(Self.document.replacingOccurrences(of: "20", with: "90"))
      #expect(other.document != swift.document && other.results != swift.results)
    }

    @Test(
      .enabled(if: BuiltLibrary.isBuilt, BuiltLibrary.reason),
      .enabled(if: Python.isHere, SkipReason.noPython))
    func `Python gives the digests of Swift`() throws {
      #expect(try inPython() == inSwift())
    }
  }
#endif
