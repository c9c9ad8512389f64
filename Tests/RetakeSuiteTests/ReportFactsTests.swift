import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeStages
import RetakeTestProjects
import Testing

@testable import RetakeGolden
@testable import RetakeReport
@testable import RetakeSuite

/// Returns the same number for each frame.
private struct Level: PureStage {
  static let kind = "level"

  init(options: NoOptions) {}

  func process(_ frame: Frame, _ context: StageContext) -> Scalars {
    Scalars([.init("level", 1)])
  }
}

/// Another code of the same kind and version.
private struct OtherLevel: PureStage {
  static let kind = "level"

  init(options: NoOptions) {}

  func process(_ frame: Frame, _ context: StageContext) -> Scalars {
    Scalars([.init("level", 1.25)])
  }
}

/// The content of a report besides the findings: ledgers, decisions with their causes, error
/// curves.
@Suite struct ReportFactsTests {
  private func slow() throws -> ProjectFixture {
    let fixture = try ProjectFixture(
      "v: 1\ncases:\n  slow: {pipeline: motion.json, mode: simulate, seed: 1}\n")
    try fixture.record("yard", frames: 60)
    _ = try fixture.test()
    _ = try fixture.accept()
    return fixture
  }

  @Test func `a project knows its folder in its repository`() throws {
    let folder = try ProjectFixture().folder
    try folder.write("v: 1\n", to: "apps/vision/retake.yml")
    // In a worktree and in a submodule it is a file.
    try folder.write("gitdir: elsewhere\n", to: ".git")
    try FileManager.default.createSymbolicLink(
      at: folder.file("link"), withDestinationURL: folder.file("apps/vision"))
    for (name, place) in [("apps/vision", "apps/vision"), ("link", "apps/vision"), (".", "")] {
      #expect(Project(folder: folder.file(name).path).placeInRepository == place)
    }
  }

  @Test func `the ledger shows the golden's counts beside the run's`() throws {
    let fixture = try slow()
    let passed = try fixture.test()
    let same = try #require(passed.document.cases.first?.ledgers.first)
    #expect(passed.status == .passed && same.golden == same.actual)
    let golden = try #require(same.golden?.frames)
    #expect(golden.isBalanced && golden.captured == 60)
    let dropped = try #require(golden.dropped["queue"])
    #expect(dropped > 0 && golden.delivered == 60 - dropped)

    try fixture.change("45ms", to: "80ms")
    let outcome = try fixture.test()
    let pair = try #require(outcome.document.cases.first?.ledgers.first)
    #expect(outcome.status == .regression && pair.golden == same.golden)
    #expect(pair.actual?.frames.dropped["queue"] ?? 0 > dropped)
    #expect(pair.actual?.frames.isBalanced == true)
    let page = String(decoding: try HTMLReport.render(outcome.document), as: UTF8.self)
    #expect(page.contains("<th scope=\"row\">dropped: queue</th><td>\(dropped)</td>"))
  }

  @Test func `drops that the frames' fates tell are among the decisions, with their causes`()
    throws
  {
    let fixture = try slow()
    try fixture.change("45ms", to: "80ms")
    let outcome = try fixture.test()
    let item = try #require(outcome.document.cases.first)
    #expect(item.findings.items.contains { $0.kind == "fateChanged" && !$0.because.isEmpty })
    let decisions = try #require(item.decisions)
    #expect(decisions.lines.items.contains { $0.actual?.contains(" drop ") == true })
    #expect(decisions.lines.items.contains { !$0.because.isEmpty })
    let text = TerminalReport.render(outcome.document, palette: .plain)
    #expect(text.contains("\n      because drop of frame 0:"))
  }

  @Test func `errors inside the tolerance have their curve though there is no finding`() throws {
    let fixture = try ProjectFixture(
      "v: 1\ncases:\n  motion: {pipeline: motion.json}\ncompare:\n"
        + "  boxes: {position: 200, score: 1, unmatchedMax: 1000}\n")
    try fixture.record("yard", frames: 60)
    _ = try fixture.test()
    _ = try fixture.accept()
    try fixture.change("\"threshold\": 24", to: "\"threshold\": 25")
    let outcome = try fixture.test()
    let item = try #require(outcome.document.cases.first)
    #expect(item.counts.withinTolerance > 0 && item.findings.items.isEmpty)
    #expect(!item.notes.contains { $0.contains("deterministic") }, "the pipeline changed")
    let curve = try #require(item.timelines.first?.errors.first)
    let headroom = try #require(item.headroom.first { $0.measure == curve.measure })
    #expect(curve.allowed == headroom.allowed && curve.framesPerBin == 1)
    let worst = try #require(curve.largest.max())
    #expect(abs(worst - headroom.largest) <= headroom.largest / 1_000)
    #expect(headroom.frame?.sequence == curve.largest.firstIndex(of: worst))
  }

  @Test func `differences within the tolerances of an unchanged pipeline lead to verify`() throws {
    let fixture = try ProjectFixture(
      "v: 1\ncases:\n  motion: {pipeline: motion.json}\ncompare:\n"
        + "  values: {mode: numeric, scalar: 0.5}\n")
    try fixture.folder.write(
      """
      {"v": 1, "name": "level",
       "nodes": [
        {"id": "camera", "kind": "session"},
        {"id": "level", "kind": "level"},
        {"id": "values", "kind": "results"}],
       "edges": [{"from": "camera", "to": "level"}, {"from": "level", "to": "values"}]}
      """, to: "motion.json")
    try fixture.record("yard")
    _ = try fixture.test { $0.project.registry.register(Level.self) }
    _ = try fixture.accept()
    let same = try fixture.test { $0.project.registry.register(Level.self) }
    #expect(same.status == .passed && same.document.cases.first?.notes == [])

    let other = try fixture.test { $0.project.registry.register(OtherLevel.self) }
    #expect(other.status == .passed)
    let note = try #require(other.document.cases.first?.notes.last)
    #expect(note.hasPrefix("12 of 12 frames differ within the tolerances"), "\(note)")
    #expect(note.hasSuffix("Check it with: retake verify yard --pipeline motion"), "\(note)")
    let text = TerminalReport.render(other.document, palette: .plain)
    #expect(text.contains("note: yard/motion: \(note)"))
    let page = String(decoding: try HTMLReport.render(other.document), as: UTF8.self)
    #expect(page.contains("a stage may not be deterministic"))

    // Other libraries explain the difference.
    let name = try #require(fixture.files("Goldens").first { $0.contains("/environment-") })
    let environment = fixture.folder.file("Goldens").appending(path: name)
    let old = try String(contentsOf: environment, encoding: .utf8)
    try Data((old + "another: \"1\"\n").utf8).write(to: environment)
    let elsewhere = try fixture.test { $0.project.registry.register(OtherLevel.self) }
    #expect(elsewhere.document.cases.first?.counts.withinTolerance == 12)
    #expect(
      elsewhere.document.cases.first?.notes.contains { $0.contains("deterministic") } == false)
  }

  @Test func `a golden's ledger counts every fate at its sink`() throws {
    let fixture = try slow()
    let folder = GoldenFolder(fixture.folder.file("Goldens/yard/slow"))
    let ledger = try #require(try folder.ledger(sink: "boxes"))
    #expect(ledger.frames.isBalanced && ledger.lostBeforeCapture == 0)
    #expect(ledger.frames.delivered == (try folder.manifest().summary.delivered))
    #expect(try folder.ledger(sink: "other") == nil)
  }
}
