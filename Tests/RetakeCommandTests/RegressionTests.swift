import Dispatch
import Foundation
import RetakeTestSupport
import Synchronization
import Testing

@Suite struct RegressionTests {
  private static let project = """
    v: 1
    cases:
      motion: {pipeline: motion.json}
      slow: {pipeline: motion.json, mode: simulate}
    suites:
      default: [{sessions: ["yard"], cases: [motion, slow]}]
    """

  private func accepted() throws -> Workplace {
    let workplace = try Workplace()
    try workplace.record("yard")
    try workplace.writePipeline()
    try workplace.folder.write(Self.project, to: "retake.yml")
    #expect(try workplace.retake("test").status == 3)
    #expect(workplace.exists("Goldens/yard/motion/golden.yml.new"))
    #expect(try workplace.retake("accept", "--reason", "first golden").status == 0)
    #expect(try workplace.retake("test").status == 0)
    return workplace
  }

  @Test func `a regressed pipeline beside a good one, same goldens: each has its own verdict`()
    throws
  {
    let workplace = try Workplace()
    try workplace.record("yard")
    try workplace.writePipeline("good/motion.json")
    try workplace.writePipeline(
      "bad/motion.json", replacing: "\"threshold\": 24", with: "\"threshold\": 26")
    let words: @Sendable (String) -> [String] = {
      ["test", "yard", "--pipeline", "\($0)/motion.json"]
    }
    #expect(try workplace.retake(words: words("good")).status == 3)
    #expect(try workplace.retake("accept", "--reason", "first golden").status == 0)
    let statuses = Mutex<[String: Set<Int32?>]>([:])
    DispatchQueue.concurrentPerform(iterations: 16) { index in
      let kind = index.isMultiple(of: 2) ? "good" : "bad"
      let result = try? workplace.retake(words: words(kind))
      statuses.withLock { _ = $0[kind, default: []].insert(result?.status) }
    }
    #expect(statuses.withLock { $0 } == ["good": [0], "bad": [1]])
    let left = try FileManager.default.subpathsOfDirectory(
      atPath: workplace.folder.file("Goldens").path)
    #expect(!left.contains { $0.contains(".writing-") }, "\(left)")
  }

  @Test func `a planted regression ends with 1 and names the first frame and the stage`() throws {
    let workplace = try accepted()
    try workplace.writePipeline(replacing: "\"threshold\": 24", with: "\"threshold\": 26")
    let result = try workplace.retake("test", "--json", "--report", "report")
    #expect(result.status == 1)
    let document = try result.json()
    #expect(document.exit.code.int == 1)
    #expect(document.cases.count == 2)
    let first = try firstDifference(workplace)
    for index in 0..<document.cases.count {
      let item = document.cases[index]
      #expect(item.verdict.text == "changed")
      #expect(item.rootCauses.count == 1)
      #expect(item.rootCauses[0].stage.text == "motion")
      #expect(item.rootCauses[0].frame.sequence.int == first)
      #expect(item.rootCauses[0].frame.track.int == 0)
    }
    for file in ["report.html", "report.json", "junit.xml", "summary.md"] {
      #expect(workplace.exists("report/\(file)"))
    }
    let junit = try runCommand(
      "xmllint", arguments: ["--noout", workplace.folder.file("report/junit.xml").path])
    #expect(junit.status == 0, "\(junit.stderr)")
    let page = try String(contentsOf: workplace.folder.file("report/report.html"), encoding: .utf8)
    #expect(page.contains("motion@0:\(first)"))
    #expect(!page.contains("src=\"http") && !page.contains("href=\"http"))
  }

  /// The first frame whose motion differs between the two thresholds, found without Retake's own
  /// comparison: the first line in which the two stage digest files differ.
  private func firstDifference(_ workplace: Workplace) throws -> Int {
    let folder = workplace.folder.file("Goldens/yard/motion")
    let name = try #require(
      FileManager.default.contentsOfDirectory(atPath: folder.path).first {
        $0.hasPrefix("digests-") && $0.hasSuffix(".gold")
      })
    let (old, new) = try (
      String(contentsOf: folder.appending(path: name), encoding: .utf8),
      String(contentsOf: folder.appending(path: "\(name).new"), encoding: .utf8)
    )
    let pair = try #require(
      zip(old.split(separator: "\n"), new.split(separator: "\n")).first { $0 != $1 })
    return try #require(Int(pair.0.prefix { $0 != " " }))
  }

  @Test func `the changed result is accepted with a reason, and passes then`() throws {
    let workplace = try accepted()
    try workplace.writePipeline(replacing: "\"threshold\": 24", with: "\"threshold\": 26")
    #expect(try workplace.retake("test").status == 1)
    let before = try workplace.listing()
    let dry = try workplace.retake("accept", "--reason", "better", "--dry-run")
    #expect(dry.stdout.contains("would accept  yard/motion  changed"))
    #expect(try workplace.listing() == before)
    #expect(try workplace.retake("accept", "--reason", " ").status == 64)
    #expect(try workplace.retake("accept").status == 64)
    #expect(
      try workplace.retake("accept", "--reason", "better", environment: ["CI": "true"]).status == 2)
    #expect(try workplace.listing() == before)
    #expect(try workplace.retake("accept", "--reason", "better").status == 0)
    #expect(try workplace.retake("test").status == 0)
  }

  @Test func `in CI nothing is written to Goldens`() throws {
    let workplace = try accepted()
    try workplace.writePipeline(replacing: "\"threshold\": 24", with: "\"threshold\": 26")
    let before = try workplace.listing()
    #expect(try workplace.retake("test", environment: ["CI": "true"]).status == 1)
    #expect(try workplace.listing() == before)
    let told = try workplace.retake(
      "test", environment: ["CI": "true", "RETAKE_PENDING_DIR": "artefacts"])
    #expect(told.status == 1)
    #expect(workplace.exists("artefacts/yard/motion/golden.yml.new"))
  }

  @Test func `a stale golden warns on a desk and ends with 5 in CI`() throws {
    let workplace = try accepted()
    try FileManager.default.moveItem(
      at: workplace.folder.file("Goldens/yard/slow"), to: workplace.folder.file("Goldens/yard/old"))
    try workplace.folder.write(
      Self.project.replacing("cases: [motion, slow]", with: "cases: [motion]"), to: "retake.yml")
    let desk = try workplace.retake("test")
    #expect(desk.status == 0)
    #expect(desk.stdout.contains("stale"))
    #expect(try workplace.retake("test", environment: ["CI": "true"]).status == 5)
  }

  @Test func `what would be tested is listed, stale goldens too, and nothing is run`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 2)
    try workplace.folder.write(Self.project, to: "retake.yml")
    try FileManager.default.createDirectory(
      at: workplace.folder.file("Goldens/yard/old"), withIntermediateDirectories: true)
    try workplace.folder.write("v: 1\n", to: "Goldens/yard/old/golden.yml")
    let before = try workplace.listing()
    // There is no motion.json: a list reads no pipeline, which could start a program.
    let text = try workplace.retake("test", "--list")
    #expect(text.status == 0, "\(text.stderr)")
    #expect(text.stdout == "yard/motion\nyard/slow\nyard/old  stale\n")
    let list = try workplace.retake("test", "yard/slow", "--list", "--json").json()
    #expect(list.count == 1 && list[0].key.text == "yard/slow")
    #expect(list[0].session.text == "yard" && list[0]["case"].text == "slow")
    #expect(list[0].pipeline.text == "motion.json" && list[0].mode.text == "simulate")
    #expect(list[0].folder.text?.hasSuffix("/Recordings/yard") == true)
    #expect(try workplace.retake("test", "--list", "--case", "nosuch").status == 2)
    #expect(try workplace.listing() == before)
  }

  @Test func `a selection that is empty ends with 4`() throws {
    let workplace = try accepted()
    for words in [["test", "attic-*"], ["test", "*", "--case", "slow", "attic-*"]] {
      let result = try workplace.retake(words: words)
      #expect(result.status == (words.count == 2 ? 4 : 0), "\(result.stderr)")
    }
    let bare = try Workplace().retake("test")
    #expect(bare.status == 4)
    #expect(bare.stderr.contains("[suite.select.nothing]"))
  }

  @Test func `a lost frame is one finding, not thousands`() throws {
    let workplace = try Workplace()
    try workplace.ffmpeg(
      "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=30", "-frames:v", "300", "-c:v", "ffv1",
      "whole.mkv")
    try workplace.ffmpeg(
      "-i", "whole.mkv", "-vf", "select='not(eq(n,40))'", "-fps_mode", "passthrough", "-c:v",
      "ffv1", "gap.mkv")
    for name in ["whole", "gap"] {
      #expect(try workplace.retake("import", "\(name).mkv").status == 0)
      let replay = try workplace.retake(
        "replay", name, "--pipeline", "example:downsample-digest", "--output", "run-\(name)")
      #expect(replay.status == 0)
    }
    let lost = try workplace.retake("diff", "run-whole", "run-gap", "--json")
    #expect(lost.status == 1)
    let document = try lost.json()
    let item = document.cases[0]
    #expect(item.findings.total.int == 1)
    #expect(item.findings.items[0].kind.text == "frameLost")
    #expect(item.findings.items[0].frame.sequence.int == 40)
    #expect(item.counts.same.int == 299)
    let inserted = try workplace.retake("diff", "run-gap", "run-whole", "--json")
    #expect(try inserted.json().cases[0].findings.items[0].kind.text == "frameInserted")
    #expect(try inserted.json().cases[0].findings.total.int == 1)
  }

  @Test func `equal runs differ in nothing, and a damaged run is an error`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 20, size: "64x48")
    for run in ["a", "b"] {
      let replay = try workplace.retake(
        "replay", "yard", "--pipeline", "example:motion-boxes", "--output", run)
      #expect(replay.status == 0)
    }
    #expect(try workplace.retake("diff", "a", "b").status == 0)
    let results = workplace.folder.file("b/results-00000.gold")
    let text = try String(contentsOf: results, encoding: .utf8)
    // A line is missing, and the block's digest shows it.
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let kept = lines.enumerated().filter { $0.offset != 5 }.map(\.element)
    try Data(kept.joined(separator: "\n").utf8).write(to: results)
    let damaged = try workplace.retake("diff", "a", "b")
    #expect(damaged.status == 2)
    #expect(damaged.stderr.contains("error: "))
  }
}
