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

  @Test(arguments: [
    ["test", "--blob", "a.blob"], ["test", "--plan", "plan.json"],
    ["test", "--shard", "1/2", "--list"], ["plan", "--shards", "0"], ["merge"],
  ])
  func `options that say nothing together are refused`(arguments: [String]) throws {
    #expect(try Workplace().retake(words: arguments).status == 64)
  }

  @Test func `recordings whose disk is not mounted end with 75`() throws {
    let place = try Self.changedProject()
    try FileManager.default.removeItem(at: place.folder.file("Recordings"))
    try FileManager.default.createSymbolicLink(
      atPath: place.folder.file("Recordings").path, withDestinationPath: "/nonexistent/Recordings")
    let result = try place.retake("test")
    #expect(result.status == 75 && result.stderr.contains("[session.list.unreadable]"))
  }
}
