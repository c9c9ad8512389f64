import Foundation
import RetakeTestSupport
import Testing

/// `retake coverage`, as users use it.
@Suite struct CoverageTests {
  private func ourGoldens() throws -> Workplace {
    let workplace = try Workplace()
    for name in ["retake.yml", "Pipelines", "Goldens"] {
      try FileManager.default.copyItem(
        at: packageRoot.appending(path: name), to: workplace.folder.file(name))
    }
    return workplace
  }

  @Test func `the page has the table of our own goldens, also without recordings`() throws {
    let result = try ourGoldens().retake("coverage")
    #expect(result.status == 0, "\(result.stderr)")
    let page = try #require(
      try PageBlock.blocks(of: "docs/coverage.md").first { $0.language.isEmpty })
    #expect(
      page.text.trimmingCharacters(in: .newlines)
        == result.stdout.trimmingCharacters(in: .newlines),
      "Write it again: retake coverage, into docs/coverage.md")
  }

  @Test func `a decision that no golden has is named, until a case takes it`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 30, size: "96x64")
    try workplace.writePipeline()
    try workplace.folder.write(
      """
      v: 1
      cases:
        fast: {pipeline: motion.json, mode: simulate, overrides: ['swap:motion@frame3={"threshold": 25}']}
        slow: {pipeline: motion.json, mode: simulate}
      suites:
        default: [{sessions: ["*"], cases: [fast]}]
        short: [{sessions: ["*"], cases: [slow]}]
      """, to: "retake.yml")
    let none = try workplace.retake("coverage")
    #expect(none.status == 4 && none.stderr.contains("no selected case has an accepted golden"))
    try workplace.retake("test")
    #expect(try workplace.retake("accept", "--reason", "first").status == 0)
    let part = try workplace.retake("coverage", "--all", "--json")
    #expect(part.status == 0 && part.stderr.contains("no golden: yard/slow"))
    let rows = try part.json().pipelines[0].rows
    let decisions = (0..<rows.count).compactMap { rows[$0].decision.text }
    #expect(decisions == ["drop reason=queue", "swap"])
    #expect((rows[0]["count"].int ?? 0) > 0 && rows[0].first["case"].text == "yard/fast")
    #expect(rows[1]["count"].int == 1 && rows[1].first.nanoseconds.int == 100_000_000)
    #expect(try workplace.retake("coverage", "--require").status == 0)
  }

  @Test func `--require fails for a queue that never dropped`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 10, size: "96x64")
    try workplace.writePipeline(replacing: "45ms", with: "1ms")
    try workplace.folder.write(
      "v: 1\ncases:\n  motion: {pipeline: motion.json, mode: simulate}\n", to: "retake.yml")
    try workplace.retake("test")
    #expect(try workplace.retake("accept", "--reason", "first").status == 0)
    let result = try workplace.retake("coverage", "--require")
    #expect(result.status == 1)
    #expect(
      result.stdout.contains("never exercised: drop reason=queue at 'motion' of motion.json"),
      "\(result.stdout)")
    #expect(try workplace.retake("coverage").status == 0)
    #expect(try workplace.retake("coverage", "--all", "--suite", "a").status == 64)
  }
}
