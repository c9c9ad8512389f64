import Foundation
import RetakeBuffers
import RetakeCore
import RetakeTestProjects
import Testing

@testable import RetakeSuite

/// Cases that run concurrently.
@Suite struct JobsTests {
  private struct Failed: Error, Hashable { var item: Int }

  @Test(arguments: 1...6)
  func `results come in the order of the cases, and each ran once`(jobs: Int) throws {
    let sizes = [3, 9, 1, 9, 4, 7, 2]
    let ran = Locked<[Int]>([])
    let results = try CaseSchedule(jobs: jobs).run(
      Array(sizes.indices), bytes: { sizes[$0] },
      body: { item in
        ran.withLock { $0.append(item) }
        return item * 10
      })
    #expect(results == sizes.indices.map { $0 * 10 })
    #expect(ran.withLock { $0.sorted() } == Array(sizes.indices))
    // The largest item first; equal items in their order.
    if jobs == 1 { #expect(ran.withLock { $0 } == [1, 3, 5, 4, 0, 6, 2]) }
  }

  @Test func `frames of all cases are one progress, and it never passes its end`() {
    var told: [String] = []
    let progress = SuiteProgress(cases: 2) { told.append("\($0): \($1)/\($2)") }
    progress.update(0, done: 5, total: 10)
    progress.update(1, done: 15, total: 30)
    progress.update(1, done: 15, total: 30)
    progress.update(1, done: 30, total: 30)
    progress.end(1)
    progress.end(0)
    #expect(
      told == [
        "0 of 2 cases: 5/20", "0 of 2 cases: 20/40", "0 of 2 cases: 35/40", "1 of 2 cases: 35/40",
        "2 of 2 cases: 35/35",
      ])
  }

  /// A reader holds files and decoders, so a thousand results that wait for the report must not
  /// hold readers.
  @Test func `cases that are over hold no files`() throws {
    let fixture = try ProjectFixture()
    for number in 0..<6 { try fixture.record("held-\(number)", frames: 6) }
    try waitUntilFilesAreClosed()
    let most = Locked(0)
    _ = try fixture.test { run in
      run.progress = { _, _, _ in most.withLock { $0 = max($0, (try? openFiles()) ?? .max) } }
    }
    #expect(most.withLock { $0 } >= Self.filesOfOneCase)
    #expect(most.withLock { $0 } < 6 * Self.filesOfOneCase)
  }

  /// At least the session's database and media file.
  private static let filesOfOneCase = 2

  @Test func `after a failure no other begins`() throws {
    let ran = Locked<[Int]>([])
    #expect(throws: Failed(item: 2)) {
      try CaseSchedule(jobs: 1).run(
        Array(0..<5), bytes: { -$0 },
        body: { item in
          ran.withLock { $0.append(item) }
          if item == 2 { throw Failed(item: item) }
        })
    }
    #expect(ran.withLock { $0 } == [0, 1, 2])
  }

  @Test func `shared memory is never more than there is, but for a single case`() {
    let share = MemoryShare(bytes: 100)
    let held = Locked((now: 0, most: 0, count: 0))
    DispatchQueue.concurrentPerform(iterations: 64) { index in
      let bytes = index == 20 ? 500 : 10 + index % 50
      share.holding(bytes) {
        held.withLock { held in
          held.now += bytes
          held.count += 1
          if held.count == 1 || held.now != bytes { held.most = max(held.most, held.now) }
        }
        held.withLock { $0.now -= bytes }
      }
    }
    #expect(held.withLock { $0.count } == 64)
    #expect(held.withLock { $0.most } <= 100)
  }

  private func project() throws -> ProjectFixture {
    let fixture = try ProjectFixture(
      """
      v: 1
      cases:
        motion: {pipeline: motion.json}
        slow: {pipeline: motion.json, mode: simulate, seed: 1}
      suites:
        default: [{sessions: ["*", gone], cases: [motion, slow]}]
      """)
    for (index, name) in ["a", "b", "c", "d", "e"].enumerated() {
      try fixture.record(name, frames: 8 + 3 * index, seed: index + 1)
    }
    return fixture
  }

  /// A report without the parts that depend on the machine.
  private func facts(_ outcome: SuiteRun.Outcome) throws -> [String] {
    outcome.document.cases.map {
      "\($0.title) \($0.verdict) \($0.decisionDigest?.actual ?? "-") "
        + "\($0.resultDigest?.actual ?? "-") \($0.error?.code ?? "-")"
    }
  }

  @Test func `a suite gives the same with any number of jobs and workers`() throws {
    let fixture = try project()
    let first = try fixture.test { $0.jobs = 3 }
    #expect(first.status == .error)
    #expect(try fixture.accept().count == 10)
    let alone = try fixture.test()
    #expect(alone.document.cases.map(\.verdict).filter { $0 == .passed }.count == 10)
    #expect(alone.document.cases.count == 12)
    for (jobs, workers) in [(2, nil), (4, 1), (8, 3), (3, 0)] as [(Int, Int?)] {
      let outcome = try fixture.test {
        $0.jobs = jobs
        $0.options.workers = workers ?? $0.options.workers
        $0.sharesProcessors = workers == nil
      }
      #expect(try facts(outcome) == facts(alone))
      #expect(outcome.status == alone.status)
    }
  }
}

/// Recorders close their files on separate threads.
private func waitUntilFilesAreClosed() throws {
  let limit = ContinuousClock.now + .seconds(600)
  while try openFiles() > 0 {
    try #require(ContinuousClock.now < limit, "a recording that is over holds files")
    sched_yield()
  }
}

/// Files of sessions that this process has open.
private func openFiles() throws -> Int {
  let folder = "/proc/self/fd"
  return try FileManager.default.contentsOfDirectory(atPath: folder)
    .compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)") }
    .count { $0.contains("/Recordings/held-") }
}
