import Foundation
import Testing

/// A stage that never returns from its second frame.
@Suite struct HangTests {
  private func workplace() throws -> Workplace {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 6)
    try workplace.folder.write(
      """
      {"v": 1, "name": "hang",
       "nodes": [
        {"id": "camera", "kind": "session"}, {"id": "light", "kind": "luminance"},
        {"id": "stage", "kind": "hangs"}, {"id": "out", "kind": "results"}],
       "edges": [
        {"from": "camera", "to": "light"}, {"from": "light", "to": "stage"},
        {"from": "stage", "to": "out"}]}
      """, to: "hang.json")
    return workplace
  }

  @Test(arguments: ["0", "1", "2", "4"])
  func `a replay that hangs says where, and ends`(workers: String) throws {
    let result = try workplace().retake(
      words: [
        "replay", "yard", "--pipeline", "hang.json", "--workers", workers, "--watchdog", "0.5",
      ], binary: Workplace.impureBinary)
    #expect(!result.timedOut)
    #expect(result.status == 2)
    #expect(result.stdout.isEmpty)
    #expect(result.stderr.contains("frame 0:1: 'stage' has not returned for 0.5 s"))
    #expect(result.stderr.contains("runtime.stage.hung"))
    #expect(result.stderr.contains("--watchdog 5"))
  }

  @Test func `a test that hangs writes its report`() throws {
    let workplace = try workplace()
    try workplace.folder.write(
      """
      v: 1
      cases:
        hang: {pipeline: hang.json}
        motion: {pipeline: example:motion-boxes}
      suites:
        default: [{sessions: ["*"], cases: [hang, motion]}]
      """, to: "retake.yml")
    let result = try workplace.retake(
      words: ["test", "--watchdog", "0.5", "--report", "report", "--json"],
      binary: Workplace.impureBinary)
    #expect(!result.timedOut)
    #expect(result.status == 2)
    let cases = try result.json().cases
    #expect(cases[0].verdict.text == "errored")
    #expect(cases[0].error.code.text == "runtime.stage.hung")
    #expect(cases[1].verdict.text == "missing")
    #expect(workplace.exists("report/report.html"))
    #expect(workplace.exists("report/junit.xml"))
    #expect(!workplace.exists("Goldens/yard/hang"))
  }

  @Test(arguments: ["-1", "nan", "86401"])
  func `a time that cannot be waited for is refused`(seconds: String) throws {
    let result = try workplace().retake(
      "replay", "yard", "--pipeline", "hang.json", "--watchdog=\(seconds)")
    #expect(result.status == 64)
    #expect(result.stderr.contains("--watchdog"))
  }
}
