import Foundation
import RetakeProcess
import RetakeTestSupport
import Testing

/// Processes that keep the cores busy for as long as this object exists.
final class BusyMachine: Sendable {
  private let processes: [ChildProcess]

  init(_ count: Int) throws {
    processes = try (0..<count).map { _ in
      try ChildProcess(ChildProcess.Request("/bin/sh", ["-c", "while :; do :; done"]))
    }
  }

  var isRunning: Bool { processes.allSatisfy { $0.end == nil } }

  func stop() {
    for process in processes { process.endNow() }
  }

  deinit { stop() }
}

@Suite(.oneAtATime) struct DeterminismTests {
  /// The decision and result digest of a replay in a separate process.
  private func digests(_ workplace: Workplace, _ more: String...) throws -> String {
    let result = try workplace.retake(
      words: ["replay", "yard", "--pipeline", "example:motion-boxes", "--json"] + more)
    try #require(result.status == 0, "\(result.stderr)")
    let run = try result.json()
    return "\(try #require(run.decisionDigest.text)) \(try #require(run.resultDigest.text))"
  }

  @Test(arguments: ["every-frame", "simulate"])
  func `one digest for any number of workers and for repeated processes on a busy machine`(
    mode: String
  ) throws {
    let workplace = try Workplace()
    try workplace.record("yard")
    let busy = try BusyMachine(2)
    var found: Set<String> = []
    for workers in ["0", "1", "2", "4"] {
      found.insert(try digests(workplace, "--mode", mode, "--workers", workers))
    }
    for _ in 0..<5 { found.insert(try digests(workplace, "--mode", mode)) }
    #expect(busy.isRunning)
    busy.stop()
    #expect(found.count == 1)
  }

  @Test func `the modes differ, and so do the sessions`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 60)
    let everyFrame = try digests(workplace)
    let simulated = try digests(workplace, "--mode", "simulate")
    #expect(everyFrame != simulated)
  }

  @Test func `overload drops exactly the frames that the model says`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 60)
    let result = try workplace.retake(
      "replay", "yard", "--pipeline", "example:motion-boxes", "--mode", "simulate", "--decisions",
      "lines.txt", "--json")
    #expect(result.status == 0)
    let run = try result.json()
    #expect(run.frames.captured.int == 60)
    #expect(run.frames.dropped.queue.int == 13)
    let text = try String(contentsOf: workplace.folder.file("lines.txt"), encoding: .utf8)
    let lines = text.split(separator: "\n").map { $0.split(separator: " ") }
    #expect(lines.count == run.decisions.int)
    let drops = lines.filter { $0.count > 3 && $0[3] == "drop" }
    #expect(drops.allSatisfy { $0[1] == "motion" && $0.last == "reason=queue" })
    #expect(
      drops.map { String($0[2]) }
        == [12, 16, 20, 24, 28, 31, 35, 39, 43, 47, 51, 55, 58].map { "0:\($0)" })
    // At frame 27, a completion and an arrival are at the same nanosecond. The slot is freed first.
    #expect(lines.contains { $0[0] == "@900000000" && $0[2] == "0:27" })
    #expect(!lines.contains { $0[2] == "0:27" && $0[3] == "drop" })
  }
}
