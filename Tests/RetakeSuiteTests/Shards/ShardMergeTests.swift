import Foundation
import RetakeCore
import RetakeReport
import RetakeTestProjects
import RetakeTestSupport
import Testing

@testable import RetakeSuite

@Suite struct ShardMergeTests {
  private static let document = """
    v: 1
    cases:
      motion: {pipeline: motion.json}
      still: {pipeline: still.json}
    suites:
      default:
        - {sessions: ["*"], cases: [motion, still]}
        - {sessions: [absent], cases: [still]}
    """

  /// Eight cases with goldens, of which four will change, a case without a session, and a stale
  /// golden. The changed cases have more images than a report shows.
  private func project() throws -> ProjectFixture {
    let fixture = try ProjectFixture(Self.document)
    try fixture.folder.write(
      ProjectFixture.pipeline.replacing("\"threshold\": 24", with: "\"threshold\": 32"),
      to: "still.json")
    for (index, name) in ["a", "b", "c", "d", "gone"].enumerated() {
      try fixture.record(name, frames: 14, seed: index + 1)
    }
    _ = try fixture.test()
    _ = try fixture.accept()
    for folder in ["Recordings/gone", "Goldens/gone/motion"] {
      try FileManager.default.removeItem(at: fixture.folder.file(folder))
    }
    try fixture.folder.write(
      Self.document.replacing("[\"*\"]", with: "[a, b, c, d]"), to: "retake.yml")
    try fixture.change("\"threshold\": 24", to: "\"threshold\": 60")
    return fixture
  }

  private func blobs(
    _ fixture: ProjectFixture, _ count: Int, _ change: (inout SuiteRun) -> Void = { _ in }
  ) throws -> [String] {
    try (1...count).map { number in
      _ = try fixture.test { run in
        (run.isCI, run.shard) = (true, try? ShardNumber("\(number)/\(count)", variables: [:]))
        run.blobFile = "blobs/\(number)-\(count).blob"
        change(&run)
      }
      return fixture.folder.file("blobs/\(number)-\(count).blob").path
    }
  }

  /// The report without the times of the machine.
  private func text(_ document: ReportDocument) throws -> String {
    var document = document
    document.generatedAt = nil
    (document.totals.wallSeconds, document.totals.framesPerSecond) = (nil, nil)
    for index in document.cases.indices {
      document.cases[index].run?.wallSeconds = 0
      document.cases[index].run?.framesPerSecond = 0
    }
    return String(decoding: try document.encoded(), as: UTF8.self)
      + JUnitReport.render(document) + TerminalReport.render(document, palette: .plain)
  }

  @Test func `the merged report of any number of shards is the report of a single run`() throws {
    let fixture = try project()
    let alone = try fixture.test { $0.isCI = true }
    let expected = try text(alone.document)
    let document = alone.document
    #expect(alone.status == .error)
    #expect(document.counts.text == "1 errored, 4 changed, 1 stale, 4 passed")
    #expect(document.cases.flatMap(\.pictures).count { $0.role == .input } == 24)
    for count in [1, 2, 3, 5, 12] {
      let files = try blobs(fixture, count)
      let merge = ShardMerge(files.reversed())
      #expect(merge.problems == [])
      let outcome = try merge.outcome(in: fixture.project(), report: "report-\(count)")
      #expect(outcome.status == alone.status)
      #expect(outcome.failing.map(\.title) == alone.failing.map(\.title))
      #expect(try text(outcome.document) == expected, "\(count) shards")
      #expect(fixture.exists("report-\(count)/report.html"))
    }
  }

  @Test func `a merge of a store keeps no more images in memory than its report has`() throws {
    let fixture = try project()
    let store = fixture.folder.file("results").path
    try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
    var run = SuiteRun(project: try fixture.project(), selection: Selection())
    run.isCI = true
    let plan = try run.makePlan(shards: 2, timings: nil)
    for number in 1...2 {
      let shard = try ShardNumber("\(number)/2", variables: [:])
      _ = try run.run(shard, of: ("plan.json", plan), store: store)
    }
    let merge = ShardMerge(("plan.json", plan), store: store)
    #expect(merge.problems == [])
    let kept = merge.blobs.flatMap(\.blob.report.records).flatMap(\.item.pictures)
    #expect(kept.count { $0.role == .input } == 24)
    let alone = try fixture.test { $0.isCI = true }
    let merged = try merge.outcome(in: fixture.project(), report: nil)
    #expect(try text(merged.document) == text(alone.document))
  }

  @Test func `a shard without cases passes, and a plan of a file is followed`() throws {
    let fixture = try ProjectFixture()
    for name in ["a", "b"] { try fixture.record(name) }
    let run = SuiteRun(project: try fixture.project(), selection: Selection())
    let plan = try run.makePlan(shards: 3, timings: nil)
    var (statuses, meanings): ([Status], [String]) = ([], [])
    for number in 1...3 {
      let outcome = try fixture.test { run in
        run.shard = try? ShardNumber("\(number)/3", variables: [:])
        run.plan = ("plan.json", plan)
      }
      statuses.append(outcome.status)
      meanings.append(outcome.document.exit.meaning)
    }
    #expect(meanings[2] == "This shard has no case to test." && meanings[1] != meanings[2])
    #expect(statuses == [.missingGolden, .missingGolden, .passed])

    func code(_ shard: String, _ plan: ShardPlan) -> String? {
      let error = #expect(throws: SuiteError.self) {
        _ = try fixture.test { run in
          run.shard = try? ShardNumber(shard, variables: [:])
          run.plan = ("plan.json", plan)
        }
      }
      return error.map { "\($0.code): \($0.facts.message)" }
    }
    func other(
      _ items: [ShardPlan.Item], build: String? = plan.build, project: String? = plan.project
    ) -> ShardPlan { ShardPlan(items, shards: 1, build: build, project: project) }
    var items = plan.items
    items[0].session = "other"
    let differs = "shard.plan.differs: "
    #expect(code("1/2", plan) == differs + "the plan has 3 shards, not 2")
    #expect(
      code("1/1", other(items))
        == differs + "a/motion is not as the plan has it: the session differs")
    #expect(
      code("1/1", other([plan.items[1]]))
        == differs + "a/motion is selected, and is not in the plan")
    #expect(
      code("1/1", other(plan.items + [.init(key: "c/motion")]))
        == differs + "c/motion is in the plan, and is not selected")
    #expect(
      code("1/1", other(plan.items, build: "other")) == differs
        + "this program is not as the plan has it")
    #expect(
      code("1/1", other(plan.items, project: "other")) == differs
        + "retake.yml is not as the plan has it")
  }

  @Test func `a failing disk ends with 75, and leaves no blob that looks like a result`() throws {
    let fixture = try ProjectFixture()
    try fixture.record("a")
    _ = try fixture.test()
    _ = try fixture.accept()
    let file = try blobs(fixture, 1)[0]
    #expect(FileManager.default.fileExists(atPath: file))
    try FileManager.default.removeItem(at: fixture.folder.file("Recordings/a"))
    try FileManager.default.createSymbolicLink(
      atPath: fixture.folder.file("Recordings/a").path, withDestinationPath: "/nonexistent/a")
    let outcome = try fixture.test { run in
      run.shard = try? ShardNumber("1/1", variables: [:])
      run.blobFile = "blobs/1-1.blob"
    }
    #expect(outcome.status == .infrastructure && outcome.document.exit.code == 75)
    let warning = "blobs/1-1.blob was not written: run this shard again"
    #expect(outcome.warnings.count == 1 && outcome.warnings[0].hasSuffix(warning))
    #expect(!FileManager.default.fileExists(atPath: file))
  }

  @Test func `a shard whose blob does not fit on its disk is run again`() {
    func status(_ cause: String) -> Status {
      let document = ReportDocument(
        tool: ReportTool(version: "1"), title: "t", exit: ReportExit(code: 1), cases: [])
      var outcome = SuiteRun.Outcome(status: .regression, document: document)
      outcome.loseBlob(SuiteError.notWritable(path: "1.blob", cause: cause))
      #expect(outcome.document.exit.code == Int(outcome.status.rawValue))
      #expect(outcome.document.exit.meaning.contains("results could not be written"))
      return outcome.status
    }
    #expect(status(POSIXError(.ENOSPC).systemText) == .infrastructure)
    #expect(status(POSIXError(.EACCES).systemText) == .error)
  }

  @Test func `a file that is no blob is not replaced`() throws {
    let fixture = try ProjectFixture()
    try fixture.record("a")
    try fixture.folder.write("mine", to: "blobs/1-1.blob")
    let error = #expect(throws: SuiteError.self) { _ = try blobs(fixture, 1) }
    #expect(error?.code == "suite.output.exists")
    let file = fixture.folder.file("blobs/1-1.blob")
    #expect(try String(contentsOf: file, encoding: .utf8) == "mine")
  }
}
