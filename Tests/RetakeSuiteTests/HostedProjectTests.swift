import Foundation
import RetakeReport
import RetakeStages
import RetakeTestProjects
import Testing

@testable import RetakeSuite

/// Projects in other test runners, case by case.
@Suite struct HostedProjectTests {
  private func hosted(_ fixture: ProjectFixture, ci: Bool = false) throws -> HostedProject {
    try HostedProject(
      fixture.folder.url.path,
      surroundings: EnvironmentVariables(environment: ci ? ["CI": "1"] : [:]))
  }

  private func run(
    _ hosted: HostedProject, _ key: String
  ) throws -> SuiteRun.Outcome {
    let cases = try hosted.project.hostedCases([key], suite: nil, isCI: false)
    return try hosted.run(cases.compactMap(\.selected))
  }

  @Test func `a chosen case says nothing about the others`() throws {
    let fixture = try ProjectFixture()
    try fixture.record("yard")
    try fixture.record("street", seed: 2)
    _ = try fixture.test()
    _ = try fixture.accept()
    try FileManager.default.copyItem(
      at: fixture.folder.file("Goldens/yard/motion"),
      to: fixture.folder.file("Goldens/yard/gone"))
    try fixture.change("24", to: "26")
    // The command finds the stale golden, and notes its pending results.
    #expect(try fixture.test().document.counts.stale == 1)
    let noted = try Data(contentsOf: fixture.folder.file(".retake/last-test.json"))

    let outcome = try run(try hosted(fixture), "yard")
    #expect(outcome.document.cases.map(\.title) == ["yard/motion"])
    #expect(outcome.status == .regression)
    #expect(outcome.failing.map(\.title) == ["yard/motion"])
    #expect(outcome.frames == 12)
    #expect(try Data(contentsOf: fixture.folder.file(".retake/last-test.json")) == noted)
  }

  @Test func `what chosen cases leave pending can be accepted`() throws {
    let fixture = try ProjectFixture()
    try fixture.record("yard")
    try fixture.record("street", seed: 2)
    let hosted = try hosted(fixture)
    #expect(try run(hosted, "yard").status == .missingGolden)
    #expect(try run(hosted, "street").status == .missingGolden)
    let items = try fixture.accept { $0.isOfLastTest = true }
    #expect(items.map(\.key) == ["street/motion", "yard/motion"])
    #expect(try run(hosted, "yard").status == .passed)
  }

  @Test func `in CI a stale golden is a case, and nothing is left pending`() throws {
    let fixture = try ProjectFixture()
    try fixture.record("yard")
    _ = try fixture.test()
    _ = try fixture.accept()
    try FileManager.default.copyItem(
      at: fixture.folder.file("Goldens/yard/motion"),
      to: fixture.folder.file("Goldens/yard/gone"))
    let project = try fixture.project()
    let listed = try project.hostedCases([], suite: nil, isCI: true)
    #expect(listed.map(\.key) == ["yard/motion", "yard/gone"])
    #expect(listed.map { $0.selected == nil } == [false, true])
    #expect(try project.hostedCases([], suite: nil, isCI: false).map(\.key) == ["yard/motion"])

    try fixture.change("24", to: "26")
    #expect(try run(try hosted(fixture, ci: true), "yard").status == .regression)
    #expect(fixture.files("Goldens").allSatisfy { !$0.hasSuffix(".new") })
  }

  @Test func `the report of several runs has all cases in order, and one speed`() throws {
    let fixture = try ProjectFixture()
    try fixture.record("yard")
    try fixture.record("street", seed: 2)
    let hosted = try hosted(fixture)
    let runs = [try run(hosted, "yard"), try run(hosted, "street")]
    let report = try #require(HostedProject.report(runs, title: "Replays", seconds: 2))
    #expect(report.cases.map(\.title) == ["street/motion", "yard/motion"])
    #expect(report.exit.code == 3 && report.counts.missing == 2)
    #expect(report.totals.framesPerSecond == 12)
    #expect(report.environment.count { $0.name == "platform" } == 1)
    #expect(HostedProject.report([], title: "Replays", seconds: 0) == nil)
    let text = TerminalReport.attention(to: report.cases[0], in: report)
    #expect(text.hasPrefix("missing  street/motion  "))
    #expect(text.contains("retake accept street/motion --reason"))
  }

  @Test(arguments: [
    ("1", true), ("true", true), ("yes", true), ("0", false), ("False", false), ("", false),
  ])
  func `CI is on unless its value says no`(value: String, isCI: Bool) {
    let surroundings = EnvironmentVariables(environment: [
      "CI": value, "RETAKE_PENDING_DIR": "pending",
    ])
    #expect(surroundings.isCI == isCI && !surroundings.isGitHub)
    #expect(surroundings.pendingFolder == "pending")
  }
}
