import RetakeCompare
import Testing

@testable import RetakeGolden

/// Where a difference begins, and the other changes.
@Suite struct OriginTests {
  private func changed() -> SampleRun {
    var run = SampleRun()
    run.setFacts([SampleRun.box(2, dx: 5)], at: 2)
    run.rows[2].cells[1] = SampleRun.cell("grey", 2, "changed")
    return run
  }

  private func origin(_ change: (inout SampleRun) -> Void) throws -> RootCause.Origin? {
    var run = changed()
    change(&run)
    let comparison = try SampleFolders.compare(SampleRun(), run)
    #expect(comparison.rootCauses.map(\.id) == ["grey@0:2"])
    return comparison.rootCauses.first?.origin
  }

  @Test func `what changed besides is told, the nearest to the pipeline first`() throws {
    #expect(try origin { _ in } == .code)
    #expect(try origin { $0.environment = [:] } == .codeOrLibraries)
    #expect(try origin { $0.environment["libavcodec"] = "60.0.0" } == .environment)
    #expect(
      try origin {
        $0.environment["libavcodec"] = "60.0.0"
        $0.manifest.models = ["faces": "aa"]
      } == .model)
    #expect(
      try origin {
        $0.environment["libavcodec"] = "60.0.0"
        $0.manifest.models = ["faces": "aa"]
        $0.manifest.pipeline.digest = .zero
      } == .pipeline)
  }

  @Test func `behind a frame that is missing, stages are compared with their own frame`() throws {
    var actual = SampleRun(frames: 900)
    actual.setFacts([SampleRun.box(800, dx: 5)], at: 800)
    actual.rows[800].cells[1] = SampleRun.cell("grey", 800, "changed")
    actual.frames.remove(at: 700)
    actual.rows.remove(at: 700)
    actual.decisions.removeAll { $0.frame?.sequence == 700 }
    let comparison = try SampleFolders.compare(SampleRun(frames: 900), actual)
    #expect(comparison.rootCauses.filter { $0.stage != nil }.map(\.id).contains("grey@0:800"))
    #expect(!comparison.rootCauses.contains { $0.stage == "camera" || $0.stage == "packet" })
    let moved = try #require(comparison.findings.first { $0.kind == .boxMoved })
    #expect(moved.root.map { comparison.rootCauses[$0].id } == "grey@0:800")
  }

  @Test func `virtual time that begins elsewhere is a finding`() throws {
    var actual = SampleRun()
    actual.origin = 5
    actual.decisions[0].time += 1
    let comparison = try SampleFolders.compare(SampleRun(), actual)
    #expect(comparison.verdict == .changed)
    #expect(comparison.findings.contains { $0.message == "virtual time begins elsewhere" })
  }

  @Test func `frames that are missing beyond their mark are not expected`() throws {
    func verdict(_ frames: String) throws -> Bool {
      var golden = SampleRun(frames: 20)
      golden.manifest.expected = [.init(id: "7", frames: frames)]
      var actual = SampleRun(frames: 20)
      actual.frames.removeSubrange(5..<8)
      actual.rows.removeSubrange(5..<8)
      return try SampleFolders.compare(golden, actual).isExpected
    }
    #expect(try verdict("5..7"))
    #expect(try !verdict("5..6"))
    #expect(try !verdict("6..7"))
  }
}
