import Foundation
import RetakeStore
import RetakeTestProjects
import Testing

@testable import RetakeSuite

/// Cases of retake.yml whose costs come from timings or a device profile.
@Suite struct CostCaseTests {
  private static let profile = #"{"v": 1, "name": "slow-phone", "scale": {"motion": 2.5}}"#

  private func fixture(_ testCase: String) throws -> ProjectFixture {
    let fixture = try ProjectFixture(
      "v: 1\ncases:\n  slow: {pipeline: motion.json, \(testCase)}\n")
    try fixture.record("yard")
    try fixture.folder.write(Self.profile, to: "Devices/slow.json")
    return fixture
  }

  /// Adds the stage times of a live run to a session.
  private func addRun(_ run: Int, to fixture: ProjectFixture, motion: Int64, frames: Int = 12)
    throws
  {
    let path = fixture.folder.file("Recordings/yard/session.sqlite").path
    let writer = try StoreWriter(continuing: path)
    writer.append([RunRecord(run: run, kind: "live", pipeline: "{}", startedNanoseconds: 0)])
    for (node, cost) in [("grey", 1_000_000), ("motion", motion)] {
      writer.append(
        (0..<frames).map {
          SpanRecord(
            run: run, node: node, track: 0, sequence: $0, readyNanoseconds: 0,
            startNanoseconds: 0, endNanoseconds: cost, cpuNanoseconds: 1, executor: node,
            outcome: "done")
        })
    }
    try writer.close()
  }

  private func golden(_ fixture: ProjectFixture, _ suffix: String = "") throws -> String {
    try String(
      contentsOf: fixture.folder.file("Goldens/yard/slow/golden.yml\(suffix)"), encoding: .utf8)
  }

  private func accepted(_ fixture: ProjectFixture) throws {
    #expect(try fixture.test().status == .missingGolden)
    _ = try fixture.accept()
    #expect(try fixture.test().status == .passed)
  }

  @Test func `costs other than declared imply simulate`() throws {
    let project = try fixture("costs: timings@2+profile:Devices/slow.json, strictCosts: true")
      .project()
    let definition = try #require(project.definition(named: "slow"))
    #expect(definition.mode == .simulate)
    #expect(definition.costs.description == "timings@2+profile:Devices/slow.json")
    #expect(definition.strictCosts)
    let plain = try fixture("mode: simulate, costs: declared").project().definition(named: "slow")
    #expect(plain?.costs == .declared)
    #expect(try fixture("costs: none").project().definition(named: "slow")?.mode == .everyFrame)
  }

  @Test func `a golden names the timings by its content, and another one is not comparable`() throws
  {
    let fixture = try fixture("costs: timings, strictCosts: true")
    try addRun(0, to: fixture, motion: 90_000_000)
    try accepted(fixture)
    let text = try golden(fixture)
    #expect(text.contains(/costs: "timings:[0-9a-f]{8}",/), "\(text)")
    #expect(text.contains("mode: simulate"))

    try addRun(1, to: fixture, motion: 20_000_000)
    let outcome = try fixture.test { $0.isCI = true }
    #expect(outcome.status == .staleOrNotComparable)
    let report = String(decoding: try outcome.document.encoded(), as: UTF8.self)
    #expect(report.contains("another choice of costs: timings:"))
  }

  @Test func `a golden names the profile and its content`() throws {
    let fixture = try fixture("costs: 'profile:Devices/slow.json'")
    try accepted(fixture)
    #expect(try golden(fixture).contains(/costs: "profile:slow-phone@[0-9a-f]{8}",/))
    try fixture.folder.write(
      Self.profile.replacing("2.5", with: "2.50").replacing(" ", with: ""), to: "Devices/slow.json")
    #expect(try fixture.test().status == .passed)
    try fixture.folder.write(Self.profile.replacing("2.5", with: "2.6"), to: "Devices/slow.json")
    #expect(try fixture.test { $0.isCI = true }.status == .staleOrNotComparable)
  }

  @Test func `a result of other costs than now is not accepted`() throws {
    let fixture = try fixture("costs: 'profile:Devices/slow.json'")
    #expect(try fixture.test().status == .missingGolden)
    try fixture.folder.write(Self.profile.replacing("2.5", with: "2.6"), to: "Devices/slow.json")
    let error = #expect(throws: SuiteError.self) { try fixture.accept() }
    #expect(error?.code == "suite.accept.outdated")
    #expect(error?.message.hasSuffix("is of other files than now: Devices/slow.json") == true)
    #expect(error?.advice?.hasPrefix("Test again: retake test yard/slow; ") == true)
    // The same costs in another form.
    try fixture.folder.write(Self.profile.replacing("2.5", with: "2.50"), to: "Devices/slow.json")
    #expect(try fixture.accept().map(\.key) == ["yard/slow"])
  }

  @Test func `timings that is not there, or lacks a cost, is an error and no verdict`() throws {
    for (costs, code) in [
      ("timings", "session.costs.none"), ("timings:absent.timings", "replay.timings.unreadable"),
      ("profile:absent.json", "replay.profile.unreadable"),
    ] {
      let outcome = try fixture("costs: '\(costs)'").test()
      #expect(outcome.status == .error)
      #expect(
        String(decoding: try outcome.document.encoded(), as: UTF8.self).contains(code), "\(code)")
    }
    let strict = try fixture("costs: timings, strictCosts: true")
    try addRun(0, to: strict, motion: 1_000, frames: 11)
    let outcome = try strict.test()
    #expect(outcome.status == .error)
    #expect(
      String(decoding: try outcome.document.encoded(), as: UTF8.self)
        .contains("runtime.cost.missing"))
    let loose = try fixture("costs: timings")
    try addRun(0, to: loose, motion: 1_000, frames: 11)
    #expect(try loose.test().status == .missingGolden)
  }
}
