import Foundation
import RetakeTestSupport
import Testing

/// A change of a pipeline is reported by name, wherever a comparison is shown.
@Suite struct PipelineChangeTests {
  private static let words = "the pipeline changed: motion.threshold: 24 → 40"
  private static let file = "Goldens/yard/motion/pipeline.json"

  private func accepted() throws -> Workplace {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 30)
    try workplace.writePipeline()
    try workplace.folder.write(
      "v: 1\ncases:\n  motion: {pipeline: motion.json}\n", to: "retake.yml")
    try #require(try workplace.retake("test").status == 3)
    try #require(try workplace.retake("accept", "--reason", "first golden").status == 0)
    return workplace
  }

  private func raise(_ workplace: Workplace) throws {
    try workplace.writePipeline(replacing: "\"threshold\": 24", with: "\"threshold\": 40")
  }

  private func text(_ path: String, of workplace: Workplace) throws -> String {
    try String(contentsOf: workplace.folder.file(path), encoding: .utf8)
  }

  @Test func `the option that changed is named in every form of the report`() throws {
    let workplace = try accepted()
    #expect(try text(Self.file, of: workplace).contains(#""kind": "motion""#))
    try raise(workplace)
    let shown = try workplace.retake("test", "--report", "report")
    #expect(shown.status == 1)
    #expect(shown.stdout.contains("    suspected: \(Self.words)\n"), "\(shown.stdout)")
    for file in ["report.html", "report.json", "junit.xml", "summary.md"] {
      let page = try text("report/\(file)", of: workplace)
      #expect(page.contains("motion.threshold: 24 → 40"), "\(file)")
    }
    let suspects = try workplace.retake("test", "--json").json().cases[0].suspects
    #expect(suspects.count == 1 && suspects[0]["text"].text == Self.words)
    #expect(suspects[0].kind.text == "pipeline" && suspects[0].change.text == "option")
    #expect(suspects[0].place.text == "motion.threshold")
    #expect(suspects[0].golden.text == "24" && suspects[0].actual.text == "40")
    #expect(workplace.exists(Self.file + ".new"))
    #expect(try workplace.retake("accept", "--reason", "less noise").status == 0)
    #expect(try text(Self.file, of: workplace).contains(#""threshold":40"#))
    #expect(!workplace.exists(Self.file + ".new"))
  }

  @Test func `two runs and two revisions are compared by name, too`() throws {
    let workplace = try accepted()
    for words in [
      ["init", "--quiet"], ["add", "--all"],
      ["-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "--quiet", "-m", "first"],
    ] {
      let git = try runCommand("git", arguments: words, folder: workplace.folder.url)
      try #require(git.status == 0, "\(git.stderr)")
    }
    try workplace.retake("replay", "yard", "--pipeline", "motion.json", "--output", "a")
    try raise(workplace)
    try workplace.retake("replay", "yard", "--pipeline", "motion.json", "--output", "b")
    #expect(workplace.exists("a/pipeline.json"))
    let runs = try workplace.retake("diff", "a", "b")
    #expect(runs.status == 1 && runs.stdout.contains(Self.words), "\(runs.stdout)\(runs.stderr)")
    let base = try workplace.retake("diff", "--base", "HEAD")
    #expect(base.status == 1 && base.stdout.contains(Self.words), "\(base.stdout)\(base.stderr)")
    // A run keeps a pipeline document, and a run that reads the document does not overwrite it.
    let again = try workplace.retake(
      "replay", "yard", "--pipeline", "a/pipeline.json", "--output", "c")
    #expect(again.status == 0, "\(again.stderr)")
    #expect(try workplace.retake("diff", "a", "c").status == 0)
    let over = try workplace.retake(
      "replay", "yard", "--pipeline", "a/pipeline.json", "--output", "a")
    #expect(over.status == 2 && over.stderr.contains("[suite.output.overInput]"), "\(over.stderr)")
  }

  @Test func `goldens of before adopt the document, and their next change is named`() throws {
    let workplace = try accepted()
    let manifest = try text("Goldens/yard/motion/golden.yml", of: workplace)
    try FileManager.default.removeItem(at: workplace.folder.file(Self.file))
    #expect(try workplace.retake("test").status == 0)
    try raise(workplace)
    let unknown = try workplace.retake("test")
    #expect(unknown.status == 1 && unknown.stdout.contains("the change is unknown"))
    #expect(unknown.stdout.contains("'retake golden sync-rules --pipelines'"), "\(unknown.stdout)")
    let late = try workplace.retake("golden", "sync-rules", "--pipelines")
    #expect(late.status == 0 && late.stdout.contains("no pipeline.json is added"), "\(late.stdout)")
    #expect(!workplace.exists(Self.file))

    try workplace.writePipeline()
    #expect(try workplace.retake("test").status == 0)
    let dry = try workplace.retake("golden", "sync-rules", "--pipelines", "--dry-run")
    #expect(dry.stdout.contains("would set pipeline.json: none → motion-boxes, 4 nodes"))
    #expect(!workplace.exists(Self.file))
    let adopted = try workplace.retake("golden", "sync-rules", "--pipelines", "--json")
    #expect(adopted.status == 0, "\(adopted.stderr)")
    #expect(try adopted.json()[0].key.text == "yard/motion")
    #expect(workplace.exists(Self.file))
    #expect(try text("Goldens/yard/motion/golden.yml", of: workplace) == manifest)
    #expect(try workplace.retake("golden", "sync-rules", "--pipelines").stdout.contains("already"))
    #expect(try workplace.retake("test").status == 0)
    try raise(workplace)
    #expect(try workplace.retake("test").stdout.contains(Self.words))
  }

  @Test func `a document that was altered is an error, and adopting repairs it`() throws {
    let workplace = try accepted()
    let kept = try text(Self.file, of: workplace)
    try workplace.folder.write(
      kept.replacing("\"threshold\":24", with: "\"threshold\":25"), to: Self.file)
    let result = try workplace.retake("test")
    #expect(result.status == 2 && result.stdout.contains("it is not the golden's pipeline"))
    #expect(result.stdout.contains("pipeline.json"), "\(result.stdout)")
    #expect(result.stdout.contains("retake golden sync-rules --pipelines"), "\(result.stdout)")
    #expect(try workplace.retake("golden", "sync-rules", "--pipelines").status == 0)
    #expect(try workplace.retake("test").status == 0)
  }

  @Test func `a stage of the program's own is a suspect where nothing else changed`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 6)
    try workplace.folder.write(
      """
      {"v": 1, "name": "clock",
       "nodes": [
        {"id": "camera", "kind": "session"}, {"id": "light", "kind": "luminance"},
        {"id": "now", "kind": "readsClock"}, {"id": "out", "kind": "results"}],
       "edges": [
        {"from": "camera", "to": "light"}, {"from": "light", "to": "now"},
        {"from": "now", "to": "out"}]}
      """, to: "clock.json")
    try workplace.folder.write(
      "v: 1\ncases:\n  clock: {pipeline: clock.json}\n", to: "retake.yml")
    func run(_ words: String...) throws -> CommandResult {
      try workplace.retake(words: words, binary: Workplace.impureBinary)
    }
    try #require(try run("test", "--cache", "none").status == 3)
    try #require(try run("accept", "--reason", "first golden").status == 0)
    let result = try run("test", "--cache", "none")
    #expect(result.status == 1)
    #expect(
      result.stdout.contains(
        "suspected: the pipeline is the same: the code of stage 'now' changed, or data that it "
          + "reads besides its input"), "\(result.stdout)")
    // The program has another name than retake, in the terminal and on the page.
    let advice = "ImpureRetake verify' finds a stage that is not deterministic"
    #expect(result.stdout.contains(advice), "\(result.stdout)")
    _ = try run("test", "--cache", "none", "--report", "report")
    for file in ["report.html", "report.json", "summary.md"] {
      let text = try String(
        contentsOf: workplace.folder.file("report/\(file)"), encoding: .utf8)
      #expect(!text.contains("retake verify"), "\(file)")
    }
    let page = try String(
      contentsOf: workplace.folder.file("report/report.html"), encoding: .utf8)
    #expect(page.contains(advice))
  }
}
