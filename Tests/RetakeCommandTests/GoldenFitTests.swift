import Foundation
import Testing

@testable import RetakeCommand

/// `retake golden calibrate`.
@Suite struct GoldenFitTests {
  /// Scalars that depend on the machine: the case's own stage differs slightly when the process has
  /// fewer instructions. Here a run from another place is used instead.
  private func place() throws -> Workplace {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 12)
    try workplace.writePipeline()
    try workplace.folder.write(
      "v: 1\ncases:\n  motion: {pipeline: motion.json}\ncompare:\n  boxes: {mode: boxes}\n",
      to: "retake.yml")
    try #require(workplace.retake("test").status == 3)
    try #require(workplace.retake("accept", "--reason", "first").status == 0)
    return workplace
  }

  /// A run of the golden's case in which scores differ slightly.
  private func elsewhere(_ workplace: Workplace, _ threshold: Int) throws {
    try workplace.writePipeline(
      replacing: "\"threshold\": 24", with: "\"threshold\": \(threshold)")
    let result = try workplace.retake(
      "replay", "yard", "--pipeline", "motion", "--output", "phone")
    try #require(result.status == 0, "\(result.stderr)")
    try workplace.writePipeline()
  }

  private func golden(_ workplace: Workplace) throws -> String {
    try String(
      contentsOf: workplace.folder.file("Goldens/yard/motion/golden.yml"), encoding: .utf8)
  }

  @Test func `runs that do not differ leave the tolerances`() throws {
    let workplace = try place()
    let before = try golden(workplace)
    let result = try workplace.retake("golden", "calibrate", "--runs", "2", "--json")
    #expect(result.status == 0, "\(result.stderr)")
    let item = try result.json()[0]
    #expect(item.key.text == "yard/motion")
    #expect(item.conditions.count == 2)
    #expect(item.rows.count == 0)
    #expect(try golden(workplace) == before)
  }

  @Test func `a changed pipeline is no platform, and nothing is fitted to it`() throws {
    let workplace = try place()
    let before = try golden(workplace)
    try workplace.writePipeline(replacing: "\"threshold\": 24", with: "\"threshold\": 25")
    let result = try workplace.retake("golden", "calibrate", "--runs", "1")
    #expect(result.status == 2)
    #expect(result.stderr.contains("[suite.fit.notNumbers]"), "\(result.stderr)")
    #expect(result.stderr.contains("would hide a change"), "\(result.stderr)")
    #expect(try golden(workplace) == before)
  }

  @Test func `a run from elsewhere widens what differed, with its evidence`() throws {
    let workplace = try place()
    try elsewhere(workplace, 25)
    let dry = try workplace.retake(
      "golden", "calibrate", "--runs", "0", "--run", "phone", "--dry-run", "--json")
    let before = try golden(workplace)
    #expect(dry.status == 0, "\(dry.stderr)")
    let row = try dry.json()[0].rows[0]
    #expect(["position", "score"].contains(row.quantity.text))
    let typo = try workplace.retake("golden", "calibrate", "--runs", "0", "--run", "fone")
    #expect(typo.status == 2 && typo.stderr.contains("[suite.diff.noGolden]"))
    try #require(
      workplace.retake("replay", "yard", "--pipeline", "motion.json", "--output", "other").status
        == 0)
    let other = try workplace.retake("golden", "calibrate", "--runs", "0", "--run", "other")
    #expect(other.status == 2 && other.stderr.contains("[suite.fit.otherCase]"), "\(other.stderr)")
    #expect(
      other.stderr.contains("the run other is of yard/motion-boxes, and "),
      "\(other.stderr)")
    let result = try workplace.retake("golden", "calibrate", "--runs", "0", "--run", "phone")
    #expect(result.status == 0, "\(result.stderr)")
    let after = try golden(workplace)
    #expect(after != before)
    #expect(after.contains("fitted:"))
    #expect(after.contains("conditions: [phone]"))
    // The run that differed now passes against the golden, and the golden's own run still does.
    let motion = try workplace.retake("diff", "Goldens/yard/motion", "phone")
    #expect(motion.status == 0, "\(motion.stdout)")
    #expect(try workplace.retake("test").status == 0)
  }

  @Test func `a run that differs in more than numbers is not fitted`() throws {
    let workplace = try place()
    try elsewhere(workplace, 200)
    let before = try golden(workplace)
    let result = try workplace.retake("golden", "calibrate", "--runs", "0", "--run", "phone")
    #expect(result.status == 2)
    #expect(result.stderr.contains("[suite.fit.notNumbers]"), "\(result.stderr)")
    #expect(try golden(workplace) == before)
  }

  @Test func `an image within the rule of its sink needs no tolerance`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 4)
    try workplace.writeView(x: 40)
    try workplace.folder.write(
      "v: 1\ncases:\n  motion: {pipeline: motion.json}\ncompare:\n"
        + "  view: {mode: pictures, pictureEvery: 1, ssimMin: 0, densestMax: 1}\n",
      to: "retake.yml")
    try #require(workplace.retake("test").status == 3)
    try #require(workplace.retake("accept", "--reason", "first").status == 0)
    // A run from another place, whose images differ.
    try workplace.writeView(x: 42)
    let run = try workplace.retake("replay", "yard", "--pipeline", "motion", "--output", "phone")
    try #require(run.status == 0, "\(run.stderr)")
    let result = try workplace.retake(
      "golden", "calibrate", "--runs", "0", "--run", "phone", "--json")
    #expect(result.status == 0, "\(result.stderr)")
    #expect(try result.json()[0].rows.count == 0)
  }

  @Test func `a started process has its own options in front of what was typed`() {
    let words = GoldenFitCommand.arguments(
      ["golden", "calibrate", "--runs", "2", "--", "yard"], key: "yard/motion", condition: "seed",
      folder: "f")
    #expect(
      words == [
        "golden", "calibrate", "--only", "yard/motion", "--condition", "seed", "--into", "f",
        "--runs",
        "2", "--", "yard",
      ])
  }

  @Test func `nothing is written in CI`() throws {
    let workplace = try place()
    let before = try golden(workplace)
    let result = try workplace.retake(
      words: ["golden", "calibrate", "--runs", "1"], environment: ["CI": "true"])
    #expect(result.status == 2)
    #expect(result.stderr.contains("[suite.accept.inCI]"))
    #expect(try golden(workplace) == before)
  }
}
