import Foundation
import Retake
import RetakeTestSupport
import Testing

/// `plan`, `test --shard` and `merge`.
@Suite struct ShardCommandTests {
  /// Two sessions with accepted goldens, and then another threshold.
  static func changedProject() throws -> Workplace {
    let place = try Workplace()
    try place.writePipeline()
    try place.folder.write("v: 1\ncases:\n  motion: {pipeline: motion.json}\n", to: "retake.yml")
    for (name, frames) in [("a", 20), ("b", 30)] {
      try place.record(name, frames: frames, size: "96x64")
    }
    try place.retake("test")
    let accepted = try place.retake("accept", "--reason", "first golden")
    try #require(accepted.status == 0, "\(accepted.stderr)")
    try place.writePipeline(replacing: "\"threshold\": 24", with: "\"threshold\": 60")
    return place
  }

  @Test func `shards and their merge end as one test does`() throws {
    let place = try Self.changedProject()
    let plan = try place.retake("plan", "--shards", "2")
    #expect(
      plan.stdout == """
        shard 1/2  1 of 2 cases, 30 frames
          b/motion
        shard 2/2  1 of 2 cases, 20 frames
          a/motion

        """)
    let alone = try place.retake("test", "--cache", "none", environment: ["CI": "true"])
    #expect(alone.status == 1)
    let second = try place.retake(
      "test", "--shard", "auto", "--blob", "2.blob", "--cache", "none",
      environment: ["CI": "true", "CI_NODE_INDEX": "2", "CI_NODE_TOTAL": "2"])
    #expect(second.status == 1)
    #expect(
      second.stderr.contains("note: this is shard 2/2, from CI_NODE_INDEX=2, CI_NODE_TOTAL=2"))
    #expect(second.stdout.contains("a/motion") && !second.stdout.contains("b/motion"))

    let gap = try place.retake("merge", "2.blob", "--report", "report")
    #expect(gap.status == 2 && gap.stdout.isEmpty && !place.exists("report"))
    #expect(
      gap.stderr.contains(
        "error: shard 1/2 is missing: 1 case, the first is b/motion [shard.merge.gap]"))

    let first = try place.retake(
      "test", "--shard", "1/2", "--blob", "1.blob", "--cache", "none",
      environment: ["CI": "true", "GITHUB_ACTIONS": "true"])
    #expect(first.status == 1 && !first.stderr.contains("::error"))
    let merged = try place.retake(
      "merge", "1.blob", "2.blob", "--report", "report",
      environment: ["CI": "true", "GITHUB_ACTIONS": "true"])
    #expect(merged.status == 1 && merged.stderr.contains("::error"))
    func cases(_ result: CommandResult) -> [Substring] {
      // Without the line of the speed.
      result.stdout.split(separator: "\n").filter { !$0.contains("frames/s") }
    }
    #expect(cases(merged) == cases(alone))
    #expect(place.exists("report/junit.xml"))
  }

  @Test func `a plan with times of an earlier report is followed by all shards`() throws {
    let place = try Self.changedProject()
    try place.retake("test", "--report", "report", environment: ["CI": "true"])
    let plan = try place.retake(
      "plan", "--shards", "2", "--timings", "report/report.json", "--json")
    #expect(try plan.json().items[0].seconds.number != nil)
    try place.folder.write(plan.stdout, to: "plan.json")
    for number in 1...2 {
      let result = try place.retake(
        "test", "--shard", "\(number)/2", "--plan", "plan.json", "--blob", "\(number).blob",
        environment: ["CI": "true"])
      #expect(result.status == 1, "\(result.stderr)")
    }
    #expect(try place.retake("merge", "1.blob", "2.blob").status == 1)
    // Other sessions are another plan.
    try place.record("c", frames: 5, size: "96x64")
    let other = try place.retake("test", "--shard", "1/2", "--plan", "plan.json")
    #expect(other.status == 2 && other.stderr.contains("c/motion is selected, and is not in"))
  }

  @Test func `each shard of a plan keeps its results, and their merge ends as one test does`()
    throws
  {
    let place = try Self.changedProject()
    let plan = try place.retake("plan", "--shards", "2", "--json").stdout
    try place.folder.write(plan, to: "plan.json")
    // A share that is not mounted.
    let absent = try place.retake("run-shard", "plan.json", "--index", "1", "--store", "results")
    #expect(absent.status == 75 && absent.stderr.contains("mkdir -p"), "\(absent.stderr)")
    #expect(!place.exists("results"))
    try FileManager.default.createDirectory(
      at: place.folder.file("results"), withIntermediateDirectories: true)
    let first = try place.retake(
      "run-shard", "plan.json", "--index", "1", "--store", "results", environment: ["CI": "true"])
    // A changed result is a result.
    #expect(first.status == 0 && first.stdout.contains("b/motion"), "\(first.stderr)")
    #expect(
      first.stdout.contains(
        "exit 0 (kept): Each case has a result; 'retake merge' has the exit code of the test."))
    let gap = try place.retake("merge", "plan.json", "--store", "results")
    #expect(gap.status == 2 && gap.stderr.contains("shard 2/2 is not finished: 1 case"))
    let second = try place.retake(
      "run-shard", "plan.json", "--store", "results",
      environment: ["CI": "true", "JOB_COMPLETION_INDEX": "1"])
    #expect(second.status == 0, "\(second.stderr)")
    let merged = try place.retake("merge", "plan.json", "--store", "results")
    #expect(merged.status == 1 && merged.stdout.contains("2 changed"))
    let names = try FileManager.default.subpathsOfDirectory(
      atPath: place.folder.file("results").path)
    let name = try #require(
      names.first {
        $0.hasSuffix(".blob")
          && (try? String(contentsOf: place.folder.file("results/\($0)"), encoding: .utf8))?
            .contains("\"key\":\"a/motion\"") == true
      })
    // Two processes that were killed while they tested the case.
    let blob = place.folder.file("results/\(name)")
    try FileManager.default.removeItem(at: blob)
    for attempt in 1...2 {
      let name = ".\(blob.lastPathComponent).0123ABCD.\(attempt)"
      try Data().write(to: blob.deletingLastPathComponent().appending(path: name))
    }
    let poisoned = try place.retake(
      "run-shard", "plan.json", "--index", "2", "--store", "results", environment: ["CI": "true"])
    #expect(poisoned.status == 65 && poisoned.stdout.contains("was killed 2 times"))
    #expect(poisoned.stdout.contains("exit 65 (case killed): "))
  }

  @Test func `a job file is printed for each engine`() throws {
    let place = try Self.changedProject()
    try place.folder.write(try place.retake("plan", "--shards", "2", "--json").stdout, to: "p.json")
    let line = try place.retake("fleet", "parallel", "p.json", "--store", "results")
    #expect(
      line.stdout == """
        seq 2 | parallel --retries 6 --workdir . 'retake run-shard p.json --store results --index {}'

        """)
    let job = try place.retake(
      "fleet", "kubernetes", "p.json", "--store", "results", "--image", "yard:7")
    #expect(job.stdout.contains("completions: 2\n") && job.stdout.contains("image: \"yard:7\"\n"))
    let outside = try place.retake(
      "fleet", "kubernetes", "p.json", "--store", "/results", "--image", "yard:7")
    #expect(outside.status == 64 && outside.stdout.isEmpty)
    #expect(outside.stderr.contains("'/results' is not in the volume that the pods share"))
  }

  @Test func `a plan in the place of a report or of a blob is refused with advice`() throws {
    let place = try Self.changedProject()
    try place.folder.write(try place.retake("plan", "--shards", "2", "--json").stdout, to: "p.json")
    let timings = try place.retake("plan", "--timings", "p.json")
    #expect(timings.status == 2)
    #expect(timings.stderr.contains("p.json: this is not a report [report.document.unreadable]"))
    let merge = try place.retake("merge", "p.json")
    #expect(merge.status == 2)
    #expect(merge.stderr.contains("p.json: this is a plan, not a blob [shard.blob.foreign]"))
    #expect(merge.stderr.contains("retake merge p.json --store DIR"))
    let nowhere = try place.retake("merge", "p.json", "--store", "nowhere")
    #expect(nowhere.status == 2 && nowhere.stderr.contains("nowhere: there is no such folder of"))
    let index = try place.retake("run-shard", "p.json", "--index", "9", "--store", "results")
    #expect(index.status == 64)
    #expect(
      index.stderr.contains("'9' is not a shard (the plan has 2 shards) [shard.number]\n  Name a"))
    // A case that cannot be opened is in the plan, without its files.
    try place.folder.write("{", to: "motion.json")
    let plan = try place.retake("plan")
    #expect(plan.status == 0 && plan.stdout.contains("  a/motion\n  b/motion\n"))
    let note = "note: 2 cases cannot be opened here, and the plan lacks their files: a/motion: "
    #expect(plan.stderr.contains(note), "\(plan.stderr)")
  }

  @Test(arguments: [
    ["fleet", "kubernetes", "p.json", "--store", "r"],
    ["fleet", "parallel", "p.json", "--store", "r", "--submit"],
    ["merge", "a", "b", "--store", "r"], ["run-shard", "plan.json"],
    ["test", "--blob", "a.blob"], ["test", "--plan", "plan.json"],
    ["test", "--shard", "1/2", "--list"], ["plan", "--shards", "0"], ["merge"],
  ])
  func `options that say nothing together are refused`(arguments: [String]) throws {
    #expect(try Workplace().retake(words: arguments).status == 64)
  }

  /// Reading the first byte of this file is an error of input and output.
  private static let unreadable = "/proc/self/mem"

  @Test(.enabled(if: FileManager.default.fileExists(atPath: unreadable), "there is no /proc"))
  func `a plan on a disk that fails ends with 75`() throws {
    let result = try Workplace().retake(
      "run-shard", Self.unreadable, "--index", "1", "--store", "results")
    #expect(result.status == 75 && result.stderr.contains("[shard.plan.unreadable]"))
  }

  @Test func `recordings whose disk is not mounted end with 75`() throws {
    let place = try Self.changedProject()
    try FileManager.default.removeItem(at: place.folder.file("Recordings"))
    try FileManager.default.createSymbolicLink(
      atPath: place.folder.file("Recordings").path, withDestinationPath: "/nonexistent/Recordings")
    let result = try place.retake("test")
    #expect(result.status == 75 && result.stderr.contains("[session.list.unreadable]"))
  }

  @Test func `a recording whose disk is not mounted ends with 75, named or not`() throws {
    let place = try Self.changedProject()
    try FileManager.default.removeItem(at: place.folder.file("Recordings/a"))
    try FileManager.default.createSymbolicLink(
      atPath: place.folder.file("Recordings/a").path, withDestinationPath: "/nonexistent/a")
    for words in [["test"], ["test", "a"]] {
      let result = try place.retake(words: words)
      let text = result.stdout + result.stderr
      #expect(result.status == 75 && text.contains("/nonexistent/a"), "\(text)")
    }
  }
}
