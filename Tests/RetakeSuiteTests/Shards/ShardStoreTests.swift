import Foundation
import RetakeReport
import RetakeTestProjects
import RetakeTestSupport
import Testing

@testable import RetakeSuite

/// Shards that keep the result of each case in a folder.
@Suite struct ShardStoreTests {
  private let fixture: ProjectFixture

  /// Three cases whose results differ from their goldens.
  init() throws {
    fixture = try ProjectFixture()
    for (index, name) in ["a", "b", "c"].enumerated() {
      try fixture.record(name, frames: 8, seed: index + 1)
    }
    _ = try fixture.test()
    _ = try fixture.accept()
    try fixture.change("\"threshold\": 24", to: "\"threshold\": 60")
    try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
  }

  private var store: String { fixture.folder.file("results").path }

  private func plan(_ shards: Int) throws -> ShardPlan {
    try SuiteRun(project: fixture.project(), selection: Selection())
      .makePlan(shards: shards, timings: nil)
  }

  @discardableResult
  private func run(
    _ number: Int, of plan: ShardPlan, jobs: Int = 1
  ) throws -> (outcome: SuiteRun.Outcome, replayed: [String]) {
    var run = SuiteRun(project: try fixture.project(), selection: Selection())
    (run.isCI, run.jobs) = (true, jobs)
    var replayed: [String] = []
    run.progress = { key, _, _ in if replayed.last != key { replayed.append(key) } }
    let shard = try ShardNumber("\(number)/\(plan.shards)", variables: [:])
    return (try run.run(shard, of: ("plan.json", plan), store: store), replayed)
  }

  private func file(_ key: String, _ plan: ShardPlan) throws -> String {
    ShardStore(folder: store, plan: plan)
      .file(of: try #require(plan.items.first { $0.key == key }))
  }

  /// The hidden file that a process leaves if it is killed while it tests a case.
  private func leaveAttempt(_ number: Int, at file: String) throws {
    let url = URL(fileURLWithPath: file)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    let name = ".\(url.lastPathComponent).0123ABCD.\(number)"
    try Data().write(to: url.deletingLastPathComponent().appending(path: name))
  }

  private var hidden: [String] {
    fixture.files("results").filter { URL(fileURLWithPath: $0).lastPathComponent.hasPrefix(".") }
  }

  private func text(_ document: ReportDocument) throws -> String {
    var document = document
    document.generatedAt = nil
    (document.totals.wallSeconds, document.totals.framesPerSecond) = (nil, nil)
    for index in document.cases.indices {
      document.cases[index].run?.wallSeconds = 0
      document.cases[index].run?.framesPerSecond = 0
    }
    return String(decoding: try document.encoded(), as: UTF8.self)
  }

  @Test func `the results of a store make the report of a single run`() throws {
    let plan = try plan(2)
    try run(1, of: plan)
    let gap = ShardMerge(("plan.json", plan), store: store).problems.map(\.description)
    #expect(gap.count == 1 && gap[0].contains("shard 2/2 is not finished: 1 case"), "\(gap)")
    try run(2, of: plan)
    #expect(fixture.files("results").count == 3 && hidden == [])
    let merge = ShardMerge(("plan.json", plan), store: store)
    #expect(merge.problems == [])
    let merged = try merge.outcome(in: fixture.project(), report: nil)
    let alone = try fixture.test { $0.isCI = true }
    #expect(merged.status == .regression)
    #expect(try text(merged.document) == text(alone.document))
  }

  @Test func `a case with a result is not run again, in a plan of any number of shards`() throws {
    let one = try plan(1)
    #expect(try run(1, of: one).replayed == ["a/motion", "b/motion", "c/motion"])
    try FileManager.default.removeItem(atPath: try file("b/motion", one))
    let damaged = try file("c/motion", one)
    try Data("x".utf8).write(to: URL(fileURLWithPath: damaged))
    let problems = ShardMerge(("plan.json", one), store: store).problems
    #expect(problems.map(\.code) == ["shard.blob.foreign", "shard.merge.gap"])
    #expect(
      problems[0].facts.message == "the result of c/motion cannot be used: this is not a blob")
    let advice = "Run it again: retake run-shard plan.json --index 1 --store DIR"
    #expect(problems[0].facts.advice == advice)
    let elsewhere = ShardMerge(("plan.json", one), store: store + "/none").problems
    #expect(elsewhere.map(\.code) == ["shard.store.none"])
    let two = try plan(2)
    let replayed = try run(1, of: two).replayed + run(2, of: two).replayed
    #expect(replayed.sorted() == ["b/motion", "c/motion"])
    // Another pipeline is another result.
    try fixture.change("\"threshold\": 24", to: "\"threshold\": 50")
    #expect(try run(1, of: plan(1)).replayed.count == 3)
  }

  @Test func `a result of another version of a library is not merged, and computed again`() throws {
    let plan = try plan(2)
    for shard in 1...2 { try run(shard, of: plan) }
    let (results, item) = (ShardStore(folder: store, plan: plan), plan.items(of: 2)[0])
    var report = try #require(try results.blob(of: item)).report
    let own = try #require(report.records[0].libraries["ffmpeg"])
    report.records[0].libraries["ffmpeg"] = "0.1"
    let other = report
    _ = try results.publish(item, after: 0) { other }
    let problem = try #require(ShardMerge(("plan.json", plan), store: store).problems.first)
    #expect(problem.code == "shard.merge.otherLibraries")
    let words =
      "shard 2/2 tested b/motion with ffmpeg 0.1, and a/motion was tested with ffmpeg \(own)"
    #expect(problem.facts.message == words)
    let command = "retake run-shard plan.json --index 2 --store DIR"
    #expect(problem.facts.advice?.hasSuffix(command) == true)
    #expect(try run(1, of: plan).replayed == [])
    #expect(try run(2, of: plan).replayed == ["b/motion"])
    #expect(ShardMerge(("plan.json", plan), store: store).problems == [])
  }

  @Test func `a plan keeps its suite, which the commands of a shard name`() throws {
    try fixture.record("yard-1", frames: 8)
    var selection = Selection()
    selection.suite = "slow"
    var alone = SuiteRun(project: try fixture.project(), selection: selection)
    alone.isCI = true
    let plan = try alone.makePlan(shards: 1, timings: nil)
    #expect(plan.suite == "slow")
    #expect(try self.plan(1).suite == nil)
    let (outcome, replayed) = try run(1, of: plan)
    #expect(replayed == ["yard-1/motion", "yard-1/slow"])
    let commands = outcome.document.cases.map(\.commands)
    #expect(commands == (try alone.run()).document.cases.map(\.commands))
    #expect("\(commands)".contains("retake test yard-1/slow --suite slow"))
    // A test that follows the plan needs the same suite.
    var other = SuiteRun(project: try fixture.project(), selection: Selection())
    (other.shard, other.plan) = (try ShardNumber("1/1", variables: [:]), ("plan.json", plan))
    let error = #expect(throws: SuiteError.self) { _ = try other.run() }
    #expect(error?.facts.message == "the plan was made with the suite 'slow', not with no suite")
    #expect(error?.facts.advice == "Write --suite slow")
  }

  @Test func `a case whose process was killed twice is an error and not run again`() throws {
    let plan = try plan(1)
    for attempt in 1...2 { try leaveAttempt(attempt, at: try file("b/motion", plan)) }
    for expected in [["a/motion", "c/motion"], []] {
      let (outcome, replayed) = try run(1, of: plan)
      #expect(replayed == expected)
      #expect(outcome.poisoned.map(\.title) == ["b/motion"] && outcome.document.cases.count == 3)
      #expect(hidden == [])
    }
    let merge = ShardMerge(("plan.json", plan), store: store)
    let merged = try merge.outcome(in: fixture.project(), report: nil)
    #expect(merged.status == .error)
    #expect(merged.document.counts.text == "1 errored, 2 changed")
  }

  @Test func `a case of a killed process is run once more, after all others`() throws {
    let plan = try plan(1)
    try leaveAttempt(1, at: try file("a/motion", plan))
    let (outcome, replayed) = try run(1, of: plan)
    #expect(replayed == ["b/motion", "c/motion", "a/motion"])
    #expect(outcome.poisoned.isEmpty && hidden == [])
  }

  @Test func `an attempt that is interrupted does not count`() throws {
    let plan = try plan(1)
    var run = SuiteRun(project: try fixture.project(), selection: Selection())
    run.options.isInterrupted = { true }
    let shard = try ShardNumber("1/1", variables: [:])
    #expect(throws: (any Error).self) {
      try run.run(shard, of: ("plan.json", plan), store: store)
    }
    #expect(fixture.files("results") == [])
  }

  @Test func `a session that is gone is an error of its case, and is tried again`() throws {
    let plan = try plan(1)
    let session = fixture.folder.file("Recordings/c").path
    try FileManager.default.moveItem(atPath: session, toPath: session + ".away")
    #expect(try run(1, of: plan).outcome.document.counts.text == "1 errored, 2 changed")
    try FileManager.default.moveItem(atPath: session + ".away", toPath: session)
    let (outcome, replayed) = try run(1, of: plan)
    #expect(replayed == ["c/motion"] && outcome.document.counts.text == "3 changed")
  }

  @Test func `an error of one machine does not replace the result of another`() throws {
    let plan = try plan(1)
    try run(1, of: plan)
    let (results, item) = (ShardStore(folder: store, plan: plan), plan.items[0])
    let report = try #require(try results.blob(of: item)).report
    let kept = try results.publish(item, after: 0) {
      var failed = report
      failed.records[0].item.error = ReportProblem(SuiteError.noRemote)
      return failed
    }
    #expect(kept.records[0].item == report.records[0].item && hidden == [])
    #expect(results.record(of: item)?.item == report.records[0].item)
  }

  @Test
  func `the plan of a session in a store depends on no cache, and on no folder that is the same`()
    throws
  {
    try FileManager.default.createDirectory(
      at: fixture.folder.file("footage"), withIntermediateDirectories: true)
    let unpointed = try plan(3)
    _ = try StorePush(project: fixture.project(), remote: "footage").run(["a", "b"])
    let withFolders = try plan(3)
    let database = fixture.folder.file("Recordings/b/session.sqlite")
    let bytes = try Data(contentsOf: database)
    try (bytes + Data(count: 1)).write(to: database)
    #expect(try plan(3).items[1].session == unpointed.items[1].session, "another database")
    try bytes.write(to: database)
    for name in ["a", "b"] {
      try FileManager.default.removeItem(at: fixture.folder.file("Recordings/\(name)"))
    }
    let plan = try plan(3)
    #expect(plan == withFolders)
    let item = plan.items[0]
    #expect(item.session == (try fixture.project().pointers(["a"])[0].digest))
    #expect(item.pipeline != nil && item.pipeline == plan.items[2].pipeline)
    // Only the session of the shard is fetched.
    try run(item.shard, of: plan)
    #expect(!fixture.files(".retake/sessions").contains { $0.contains("/b/") })
    #expect(fixture.files(".retake/sessions").contains { $0.contains("/a/") })
    #expect(try self.plan(3) == plan)
  }
}
