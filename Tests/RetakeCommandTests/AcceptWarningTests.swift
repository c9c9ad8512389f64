import Foundation
import Testing

/// Warnings of `retake accept` and of a passing test about results that a user may not want to
/// accept as they are.
@Suite struct AcceptWarningTests {
  private func project(frames: Int = 12) throws -> Workplace {
    let workplace = try Workplace()
    try #require(try workplace.retake("init").status == 0)
    try workplace.record("yard", frames: frames)
    return workplace
  }

  private func accepted() throws -> Workplace {
    let workplace = try project()
    try #require(try workplace.retake("test").status == 3)
    try #require(try workplace.retake("accept", "--reason", "first").status == 0)
    return workplace
  }

  private func golden(of workplace: Workplace) throws -> String {
    try String(
      contentsOf: workplace.folder.file("Goldens/yard/motion-boxes/golden.yml"), encoding: .utf8)
  }

  @Test func `a golden of another session of the same name is replaced only if that was asked for`()
    throws
  {
    let workplace = try accepted()
    let before = try golden(of: workplace)
    let trimmed = try workplace.retake(
      "session", "trim", "yard", "--to", "0.2", "--into", "Trimmed")
    try #require(trimmed.status == 0, "\(trimmed.stderr)")
    let tested = try workplace.retake("test", "Trimmed/yard", "-p", "Pipelines/motion-boxes.json")
    #expect(tested.status == 5, "\(tested.stdout)")
    #expect(
      tested.stdout.contains("retake accept yard/motion-boxes --replace --reason"),
      "\(tested.stdout)")

    let refused = try workplace.retake("accept", "yard/motion-boxes", "--reason", "shorter")
    #expect(refused.status == 2, "\(refused.stdout)")
    #expect(refused.stderr.contains("[suite.accept.replacesOther]"), "\(refused.stderr)")
    #expect(refused.stderr.contains("another session digest"), "\(refused.stderr)")
    #expect(try golden(of: workplace) == before)
    let dry = try workplace.retake("accept", "--dry-run", "--reason", "shorter")
    #expect(dry.status == 0 && dry.stdout.contains("would accept  yard/motion-boxes  replaced"))

    let replaced = try workplace.retake("accept", "--replace", "--reason", "shorter")
    #expect(replaced.status == 0, "\(replaced.stderr)")
    #expect(replaced.stdout.contains("accepted  yard/motion-boxes  replaced"), "\(replaced.stdout)")
    #expect(try golden(of: workplace) != before)
  }

  @Test func `a damaged golden is replaced only if that was asked for`() throws {
    let workplace = try accepted()
    let file = workplace.folder.file("Goldens/yard/motion-boxes/results-00000.gold")
    var lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
    lines.remove(at: lines.count / 2)
    try lines.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
    let tested = try workplace.retake("test")
    #expect(tested.status == 2, "\(tested.stdout)")
    #expect(tested.stdout.contains("retake accept --replace --reason"), "\(tested.stdout)")

    let before = try golden(of: workplace)
    let refused = try workplace.retake("accept", "--reason", "again")
    #expect(refused.status == 2, "\(refused.stdout)")
    #expect(refused.stderr.contains("[suite.accept.replacesOther]"), "\(refused.stderr)")
    #expect(
      refused.stderr.contains("the old golden could not be read: ")
        && refused.stderr.contains("results-00000.gold: "), "\(refused.stderr)")
    #expect(try golden(of: workplace) == before)
    let replaced = try workplace.retake("accept", "--replace", "--reason", "again")
    #expect(replaced.status == 0, "\(replaced.stderr)")
    #expect(
      replaced.stdout.contains("accepted  yard/motion-boxes  replaced  12 frames"),
      "\(replaced.stdout)")
    #expect(try workplace.retake("test").status == 0)
  }

  @Test(arguments: [
    "Recordings/yard/session.sqlite", "Recordings/yard/media/trace.json",
    "Goldens/yard/motion-boxes/golden.yml", "retake.yml",
  ])
  func `a file of a session, a golden or the project is never written over`(file: String) throws {
    let workplace = try accepted()
    let before = try workplace.listing()
    let pipeline = ["--pipeline", "example:motion-boxes", "--trace", file]
    for words in [
      ["record", "synthetic:figures", "--name", "new", "--frames", "3"] + pipeline,
      ["replay", "yard"] + pipeline,
    ] {
      let result = try workplace.retake(words: words)
      #expect(result.status == 2, "\(result.stderr)")
      #expect(result.stderr.contains("[suite.output.overInput]"), "\(result.stderr)")
    }
    #expect(try workplace.listing() == before)
  }

  @Test func `frames that fail are counted when they are accepted, and named when they pass`()
    throws
  {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 12)
    try workplace.folder.write(
      """
      {"v": 1, "name": "outside", "nodes": [
        {"id": "camera", "kind": "session"},
        {"id": "cut", "kind": "crop", "options": {"x": 300, "y": 0, "width": 20, "height": 20}},
        {"id": "boxes", "kind": "results"}],
       "edges": [{"from": "camera", "to": "cut"}, {"from": "cut", "to": "boxes"}]}
      """, to: "outside.json")
    let words = ["test", "yard", "-p", "outside.json"]
    try #require(try workplace.retake(words: words).status == 3)
    let accepted = try workplace.retake("accept", "--reason", "unseen")
    #expect(accepted.stdout.contains("12 frames  (12 failed at a stage)"), "\(accepted.stdout)")
    let passed = try workplace.retake(words: words)
    #expect(passed.status == 0)
    #expect(passed.stdout.contains("[crop.outside]; it failed 12 times"), "\(passed.stdout)")
  }

  @Test func `a case that retake.yml does not have is accepted with the line that it needs`() throws
  {
    let workplace = try project()
    try workplace.writePipeline("other.json", replacing: "motion-boxes", with: "other")
    try #require(try workplace.retake("test", "yard", "-p", "other.json").status == 3)
    let accepted = try workplace.retake("accept", "--reason", "first")
    #expect(accepted.status == 0)
    #expect(
      accepted.stderr.contains(#"write under 'cases': other: {pipeline: "other.json"}"#),
      "\(accepted.stderr)")
  }

  @Test func `in CI the commands begin with a test on one's own machine`() throws {
    let workplace = try accepted()
    try workplace.writePipeline(
      "Pipelines/motion-boxes.json", replacing: "\"threshold\": 24", with: "\"threshold\": 250")
    let tested = try workplace.retake("test", environment: ["CI": "true"])
    #expect(tested.status == 1, "\(tested.stdout)")
    let test = try #require(tested.stdout.range(of: "retake test yard/motion-boxes"))
    let accept = try #require(tested.stdout.range(of: "retake accept yard/motion-boxes"))
    #expect(test.upperBound < accept.lowerBound)
    #expect(try workplace.retake("test", "yard/motion-boxes").status == 1)
    #expect(try workplace.retake("test").stdout.contains("retake test yard/") == false)
  }

  @Test func `a report has the commands of the program that made it`() throws {
    let workplace = try project()
    let tested = try workplace.retake(
      words: ["test", "--report", "report"], binary: Workplace.impureBinary)
    #expect(tested.status == 3, "\(tested.stderr)")
    let page = try String(
      contentsOf: workplace.folder.file("report/report.html"), encoding: .utf8)
    #expect(page.contains("ImpureRetake accept yard/motion-boxes"))
    #expect(!page.contains("retake accept yard"))
    #expect(tested.stdout.contains("\(Workplace.impureBinary) accept yard/motion-boxes"))
  }

  @Test func `rules are adopted for the named case, into goldens that are whole`() throws {
    let workplace = try project()
    let none = try workplace.retake("golden", "sync-rules")
    #expect(none.status == 2 && none.stderr.contains("[suite.adopt.noGolden]"), "\(none.stderr)")
    try #require(try workplace.retake("test").status == 3)
    try #require(try workplace.retake("accept", "--reason", "first").status == 0)
    let file = workplace.folder.file("retake.yml")
    let document = try String(contentsOf: file, encoding: .utf8)
    try workplace.folder.write(document + "budgets: {latencyMax: 120ms}\n", to: "retake.yml")
    let dry = try workplace.retake("golden", "sync-rules", "yard/motion-boxes", "--dry-run")
    #expect(dry.stdout.contains("would set budgets.latencyMax: none → 120ms"), "\(dry.stdout)")

    let before = try golden(of: workplace)
    let results = "Goldens/yard/motion-boxes/results-00000.gold"
    var bytes = try Data(contentsOf: workplace.folder.file(results))
    bytes[bytes.count / 2] ^= 1
    try bytes.write(to: workplace.folder.file(results))
    let damaged = try workplace.retake("golden", "sync-rules")
    #expect(damaged.status == 2, "\(damaged.stdout)")
    #expect(damaged.stderr.contains("results-00000.gold"), "\(damaged.stderr)")
    #expect(try golden(of: workplace) == before)
  }

  @Test func `a sink of numbers keeps its mode without a rule`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 12)
    try workplace.folder.write(
      """
      {"v": 1, "name": "light", "nodes": [
        {"id": "camera", "kind": "session"}, {"id": "mean", "kind": "luminance"},
        {"id": "out", "kind": "results"}],
       "edges": [{"from": "camera", "to": "mean"}, {"from": "mean", "to": "out"}]}
      """, to: "light.json")
    try workplace.folder.write(
      """
      v: 1
      cases: {light: {pipeline: light.json}}
      """, to: "retake.yml")
    try #require(try workplace.retake("test").status == 3)
    try #require(try workplace.retake("accept", "--reason", "first").status == 0)
    let adopted = try workplace.retake("golden", "sync-rules")
    #expect(adopted.status == 0)
    #expect(adopted.stdout.contains("have the rules of retake.yml"), "\(adopted.stdout)")
  }
}
