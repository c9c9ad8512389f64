import Foundation
import Retake
import Testing

@testable import RetakeTesting

@Suite(.retake()) struct ReplayedRunTests {
  @Test func `scalars come in the order of capture`() async throws {
    let run = try await Replay.run("figures") { $0.gray().luminance().results("light") }
    let values = run.scalars("mean", at: "light")
    #expect(values.count == run.summary.frames.delivered)
    #expect(run.scalars("mean") == values)
    #expect(run.scalars("mean", at: "elsewhere") == [])
    #expect(run.scalars("nothing") == [])
    #expect(values.allSatisfy { (0...255).contains($0) })
  }

  @Test func `detections come frame by frame`() async throws {
    let run = try await Replay.run("figures") { $0.gray().motion().results() }
    let boxes = run.detections()
    #expect(boxes.count == run.results.count)
    #expect(boxes.contains { !$0.isEmpty })
  }

  @Test func `a run decides in virtual time`() async throws {
    let run = try await Replay.run("figures", options: RunOptions(mode: .simulate)) {
      $0.gray().motion().cost(.fixed(.milliseconds(300))).queue(capacity: 1, policy: .dropOldest)
        .results()
    }
    #expect(run.detections().count < run.summary.frames.captured)
  }

  @Test func `a session that does not exist is named`() async {
    await #expect(throws: SuiteError.self) {
      try await Replay.run("ghost") { $0.gray().luminance().results() }
    }
  }

  @Test func `a test that is cancelled ends its replay`() async {
    let replaying = Task {
      try await Replay.run("pulse") { $0.fingertip().results() }
    }
    replaying.cancel()
    await #expect(throws: RuntimeError.interrupted) { try await replaying.value }
  }
}

@Suite struct TurnsTests {
  @Test func `no more work than there are turns at once, and all of it is done`() async {
    let turns = Turns(count: 3)
    let working = Locked((now: 0, most: 0, done: 0))
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<200 {
        group.addTask {
          await turns.take {
            working.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1), $0.done) }
            await Task.yield()
            working.withLock { $0 = ($0.now - 1, $0.most, $0.done + 1) }
          }
        }
      }
    }
    let end = working.withLock { $0 }
    #expect(end.now == 0 && end.done == 200)
    #expect((1...3).contains(end.most))
  }
}
