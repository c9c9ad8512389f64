import Foundation
import RetakeReport
import RetakeTestProjects
import Testing

@testable import RetakeSuite

/// Goldens whose recording is not on this disk, and cases of other suites.
@Suite struct MissingRecordingTests {
  /// Two recordings with goldens, of which `cars` is then taken away.
  private func fixture(suites: String = "") throws -> ProjectFixture {
    let fixture = try ProjectFixture("v: 1\ncases:\n  motion: {pipeline: motion.json}\n" + suites)
    try fixture.record("cars")
    try fixture.record("yard", seed: 2)
    _ = try fixture.test()
    _ = try fixture.accept()
    try FileManager.default.removeItem(at: fixture.folder.file("Recordings/cars"))
    return fixture
  }

  private func expectMissing(
    _ fixture: ProjectFixture, isCI: Bool, status: Status = .error
  ) throws -> ReportProblem {
    let outcome = try fixture.test { $0.isCI = isCI }
    #expect(outcome.status == status)
    #expect(outcome.document.counts.stale == 0)
    let item = try #require(outcome.document.cases.first { $0.title == "cars/motion" })
    #expect(item.verdict == .errored)
    return try #require(item.error)
  }

  @Test(arguments: [false, true])
  func `a recording that is not here is missing, and its golden is not stale`(isCI: Bool) throws {
    let fixture = try fixture()
    let problem = try expectMissing(fixture, isCI: isCI)
    #expect(problem.code == "suite.select.noRecording")
    #expect(problem.message.contains("there is no recording 'cars' here"), "\(problem)")
    let advice = try #require(problem.advice)
    #expect(advice.hasPrefix("Fetch it; or if it is gone for good"), "\(advice)")
    #expect(advice.contains("golden list --stale cars/motion --remove"), "\(advice)")
  }

  @Test func `a link to a disk that is not mounted is a missing recording`() throws {
    let fixture = try fixture()
    try FileManager.default.createSymbolicLink(
      atPath: fixture.folder.file("Recordings/cars").path, withDestinationPath: "/nonexistent/cars")
    let problem = try expectMissing(fixture, isCI: false, status: .infrastructure)
    #expect(problem.code == "suite.select.noRecording")
    #expect(problem.cause?.contains("/nonexistent/cars") == true, "\(problem)")
    #expect(problem.advice?.contains("remove") == false, "\(problem)")
    // The advice of a recording that is gone, typed all the same.
    var goldens = StaleGoldens(project: try fixture.project())
    goldens.keys = ["cars/motion"]
    #expect(try goldens.remove(isCI: false).isEmpty)
    #expect(fixture.exists("Goldens/cars/motion/golden.yml"))
  }

  /// Recordings becomes a link to a disk that is not mounted, or a file.
  @Test(arguments: [true, false])
  func `Recordings that cannot be read is one error, and no golden is removed`(
    isLink: Bool
  ) throws {
    let fixture = try fixture()
    let path = fixture.folder.file("Recordings").path
    try FileManager.default.removeItem(atPath: path)
    if isLink {
      try FileManager.default.createSymbolicLink(
        atPath: path, withDestinationPath: "/nonexistent/Recordings")
    } else {
      try fixture.folder.write("", to: "Recordings")
    }
    let before = fixture.files("Goldens")
    let actions: [() throws -> Void] = [
      { _ = try fixture.test() },
      { _ = try fixture.test { $0.selection = Selection(sessions: ["yard"]) } },
      {
        var goldens = StaleGoldens(project: try fixture.project())
        goldens.keys = ["cars/motion"]
        _ = try goldens.remove(isCI: false)
      },
    ]
    for action in actions {
      let error = #expect(throws: SuiteError.self) { try action() }
      #expect(error?.code == "session.list.unreadable")
      #expect(error?.advice?.contains("emove") == false, "\(String(describing: error))")
      #expect(error?.message.contains("/nonexistent/Recordings") == isLink)
    }
    #expect(fixture.files("Goldens") == before)
  }

  @Test func `without any recording the goldens say what is missing`() throws {
    let fixture = try fixture()
    try FileManager.default.removeItem(at: fixture.folder.file("Recordings/yard"))
    let outcome = try fixture.test()
    #expect(outcome.status == .error)
    #expect(outcome.document.cases.map(\.title) == ["cars/motion", "yard/motion"])
  }

  @Test func `a recording that a suite names is missing, and not a name with a mistake`() throws {
    let fixture = try fixture(
      suites: "suites:\n  default: [{sessions: [cars, yard], cases: [motion]}]\n")
    #expect(try expectMissing(fixture, isCI: true).code == "suite.select.noRecording")
  }

  @Test func `a golden that no suite expects is stale, with or without its recording`() throws {
    let fixture = try fixture()
    try fixture.folder.write(
      "v: 1\ncases:\n  motion: {pipeline: motion.json}\n"
        + "suites:\n  default: [{sessions: [yard], cases: [motion]}]\n", to: "retake.yml")
    let outcome = try fixture.test()
    #expect(outcome.status == .passed)
    #expect(
      outcome.document.cases.filter { $0.verdict == .stale }.map(\.title) == ["cars/motion"])
  }

  // MARK: Suites

  private static let suites = """
    v: 1
    cases:
      fast: {pipeline: motion.json}
      slow: {pipeline: motion.json, mode: simulate}
    suites:
      default: [{sessions: ["*"], cases: [fast]}]
      nightly: [{sessions: ["*"], cases: [slow]}]
    """

  @Test func `the test to run on your machine names the suite`() throws {
    let fixture = try ProjectFixture(Self.suites)
    try fixture.record("yard")
    _ = try fixture.test { $0.selection.suite = "nightly" }
    _ = try fixture.accept()
    try fixture.change("24", to: "60")
    let outcome = try fixture.test {
      $0.selection.suite = "nightly"
      $0.isCI = true
    }
    let item = try #require(outcome.document.cases.first)
    let commands = item.commands + item.rootCauses.flatMap(\.commands)
    #expect(
      commands.contains { $0.command.hasSuffix("test yard/slow --suite nightly") }, "\(commands)")
    // The command works.
    let again = try fixture.test {
      $0.selection = Selection(sessions: ["yard/slow"])
      $0.selection.suite = "nightly"
    }
    #expect(again.status == .regression)
  }

  @Test(arguments: [("yard/slow", []), ("yard", ["slow"]), ("y*", ["slow"])])
  func `a case of another suite is an error that names the suite`(
    session: String, cases: [String]
  ) throws {
    let fixture = try ProjectFixture(Self.suites)
    try fixture.record("yard")
    let error = #expect(throws: SuiteError.self) {
      _ = try Selection(sessions: [session], cases: cases).resolve(in: fixture.project())
    }
    #expect(error?.code == "suite.select.nothing")
    #expect(error?.advice?.contains("--suite nightly") == true, "\(String(describing: error))")
  }
}
