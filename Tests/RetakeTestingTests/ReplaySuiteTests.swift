import Foundation
import RetakeTestProjects
import RetakeTestSupport
import Testing

/// The output of `swift test` for suites with failing replays: each suite runs in a separate
/// process.
@Suite struct ReplaySuiteTests {
  private func swiftTest(
    _ filter: String, attachments: URL? = nil, environment: [String: String?], folder: URL? = nil
  ) throws -> CommandResult {
    var arguments = ["--testing-library", "swift-testing", "--filter", filter]
    if let attachments { arguments += ["--attachments-path", attachments.path] }
    return try runTests(
      arguments, environment: environment.merging(["CI": "true"]) { given, _ in given },
      folder: folder)
  }

  /// Swift Testing writes to standard error, and tests print to standard output.
  private func text(_ result: CommandResult) -> String { result.stdout + result.stderr }

  @Test func `each of seven regressions is an issue with its root cause and its next command`()
    throws
  {
    let project = try FiftyCases()
    try project.plant()
    let attachments = try TemporaryFolder()
    let result = try swiftTest(
      "PlantedReplays", attachments: attachments.url,
      environment: [Planted.projectVariable: project.folder.path])
    #expect(result.status == 1)

    let lines = text(result).split(separator: "\n").map(String.init)
    let issues = lines.filter { $0.contains("recorded an issue") }
    #expect(issues.count == FiftyCases.planted.count)
    #expect(issues.allSatisfy { $0.contains(" at PlantedSuites.swift:") })
    let heads = lines.filter { $0.contains("changed  s") }
    #expect(heads.count == FiftyCases.planted.count)
    for key in FiftyCases.planted {
      let stage = key.hasSuffix("moved") ? "stage motion" : "stage fingertip"
      let head = try #require(heads.first { $0.contains("changed  \(key)  first divergence at ") })
      #expect(head.contains(stage))
      #expect(lines.contains { $0.contains("retake accept \(key) --reason") })
    }
    #expect(text(result).contains("with 50 test cases"))
    let speed = /retake: .*: 7 changed, 43 passed · 50 cases · .* frames compared · .* frames\/s/
    #expect(lines.contains { $0.contains(speed) })
    try expectAttachments(in: attachments.url)
  }

  private func expectAttachments(in folder: URL) throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    for key in FiftyCases.planted {
      let name = key.replacing("/", with: "-")
      let page = folder.appending(path: "\(name)-report.html")
      #expect(try String(contentsOf: page, encoding: .utf8).contains(key))
      let image = try #require(names.first { $0.hasPrefix("\(name)-frame-0-") })
      let bytes = try Data(contentsOf: folder.appending(path: image))
      #expect(bytes.starts(with: [0x89] + Array("PNG".utf8)))
    }
    let junit = try String(
      contentsOf: folder.appending(path: "junit.xml"), encoding: .utf8)
    #expect(junit.matches(of: /<failure\s/).count >= FiftyCases.planted.count)
    // SwiftPM's own file has one test case for all of them.
    let cases = junit.matches(of: /classname="(s\d)" name="(\w+)\s/).map { "\($0.1)/\($0.2)" }
    #expect(Set(cases).count == FiftyCases.count)
    #expect(names.contains("report.html"))
    #expect(names.count { $0.hasSuffix("-report.html") } == FiftyCases.planted.count)
  }

  @Test func `an empty selection fails`() throws {
    let project = try ProjectFixture()
    try project.record("yard")
    try project.folder.write(
      "v: 1\ncases: {a: {pipeline: motion.json}}\n"
        + "suites: {none: [{sessions: [\"no-*\"], cases: [a]}]}\n", to: "retake.yml")
    let result = try swiftTest(
      "PlantedReplays",
      environment: [
        Planted.projectVariable: project.folder.url.path, "RETAKE_PLANTED_SUITE": "none",
      ])
    #expect(result.status == 1)
    #expect(text(result).contains("no case is selected"))
    #expect(text(result).matches(of: /recorded an issue/).count == 1)
  }

  @Test func `the project's folder is named with its commands, unless the test runs there`() throws
  {
    let project = try ProjectFixture()
    try project.record("yard")
    let folder = project.folder.url
    let elsewhere = try swiftTest(
      "PlantedReplays", environment: [Planted.projectVariable: folder.path])
    #expect(elsewhere.status == 1)
    #expect(text(elsewhere).contains("retake replay yard --pipeline motion"))
    #expect(text(elsewhere).contains("in the folder \(folder.path)\n"))
    let there = try swiftTest(
      "PlantedReplays", environment: [Planted.projectVariable: folder.path], folder: folder)
    #expect(there.status == 1)
    #expect(text(there).contains("retake replay yard --pipeline motion"))
    #expect(!text(there).contains("in the folder"))
  }

  @Test func `why nothing could be left pending is printed`() throws {
    let project = try ProjectFixture()
    try project.record("yard")
    try project.folder.write("a file where the folder should be", to: "Goldens")
    let result = try swiftTest(
      "PlantedReplays",
      environment: [Planted.projectVariable: project.folder.url.path, "CI": "false"])
    #expect(result.status == 1)
    #expect(text(result).contains("missing  yard/motion"))
    #expect(text(result).contains("note: no pending golden of yard/motion: "))
  }

  @Test func `a folder without a project fails`() throws {
    let folder = try TemporaryFolder()
    let result = try swiftTest(
      "PlantedReplays", environment: [Planted.projectVariable: folder.url.path])
    #expect(result.status == 1)
    #expect(text(result).contains("this folder has no retake.yml"))
  }

  @Test func `an expectation in a sink or a stage fails the test that replays`() throws {
    let result = try swiftTest("PlantedSink", environment: [Planted.sinkVariable: "1"])
    #expect(result.status == 1)
    #expect(!text(result).contains("«unknown»"))
    #expect(text(result).contains(/Test .what a sink expects. recorded an issue/))
    #expect(text(result).contains(/Test .what a sink expects. failed/))
    #expect(text(result).contains(/Test .what a stage expects.* recorded an issue/))
    #expect(text(result).contains(/Test .what a stage expects.* failed/))
  }

  @Test func `a test without the trait fails`() throws {
    let project = try ProjectFixture()
    try project.record("yard")
    let result = try swiftTest(
      "PlantedNothing", environment: [Planted.projectVariable: project.folder.url.path])
    #expect(result.status == 1)
    #expect(text(result).contains("expectReplay needs a project"))
  }
}
