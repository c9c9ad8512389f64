import Foundation
import RetakeTestProjects
import RetakeTestSupport
import Testing

/// The output of `swift test` for XCTest's tests with replays, which run in separate processes.
@Suite struct XCTAssertReplayTests {
  private func swiftTest(_ environment: [String: String?]) throws -> CommandResult {
    try runTests(
      ["RetakeXCTestTests.PlantedXCTests/testReplays"],
      environment: environment.merging(["CI": "true"]) { given, _ in given })
  }

  @Test func `cases that equal their goldens pass`() throws {
    let result = try swiftTest([PlantedXCTests.projectVariable: nil])
    #expect(result.status == 0)
    #expect((result.stdout + result.stderr).contains(/Executed 1 test, with 0 failures/))
    #expect(result.stdout.contains(/retake: 1 passed · 1 case · .* frames\/s/))
  }

  @Test func `each regression is a failure with its root cause, and the report is written`() throws
  {
    let project = try FiftyCases()
    try project.plant()
    let result = try swiftTest([
      PlantedXCTests.projectVariable: project.folder.path, PlantedXCTests.reportVariable: "report",
    ])
    let output = result.stdout + result.stderr
    #expect(result.status == 1)
    #expect(output.contains(/Executed 1 test, with 7 failures/))
    for key in FiftyCases.planted {
      #expect(output.contains("changed  \(key)  first divergence at "))
      #expect(output.contains("retake accept \(key) --reason"))
    }
    #expect(output.matches(of: /PlantedTests\.swift:\d+: error/).count == FiftyCases.planted.count)
    #expect(output.contains(/7 changed, 43 passed · 50 cases · .* frames\/s/))
    #expect(
      project.fixture.exists("report/report.html") && project.fixture.exists("report/junit.xml"))
  }

  @Test func `the project's folder is named, and why nothing could be left pending`() throws {
    let project = try ProjectFixture()
    try project.record("yard")
    try project.folder.write("a file where the folder should be", to: "Goldens")
    let result = try swiftTest([
      PlantedXCTests.projectVariable: project.folder.url.path, "CI": "false",
    ])
    let output = result.stdout + result.stderr
    #expect(result.status == 1)
    #expect(output.contains("in the folder \(project.folder.url.path)\n"))
    #expect(output.contains("retake: note: no pending golden of yard/motion: "))
  }

  @Test func `an empty selection is a failure`() throws {
    let project = try ProjectFixture()
    let result = try swiftTest([PlantedXCTests.projectVariable: project.folder.url.path])
    #expect(result.status == 1)
    #expect((result.stdout + result.stderr).contains("no case is selected"))
  }
}
