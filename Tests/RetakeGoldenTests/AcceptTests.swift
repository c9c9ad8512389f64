import Foundation
import RetakeCompare
import RetakeCore
import Testing

@testable import RetakeGolden

@Suite struct AcceptTests {
  private struct Interrupted: Error {}

  private let acceptance = GoldenManifest.Acceptance(
    at: "2026-11-21", reason: "first golden", frames: 6)

  private func changed(_ count: Int = 6) -> SampleRun {
    var run = SampleRun(frames: count)
    run.setFacts([SampleRun.box(2, dx: 9)], at: 2)
    return run
  }

  private func names(_ folder: GoldenFolder) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
  }

  @Test func `pending lies beside the golden and accept moves it`() throws {
    let folders = try SampleFolders()
    let files = [
      "decisions.gold", "digests-linux-x86_64-fma.gold", "environment-linux-x86_64-fma.yml",
      "golden.yml", "results-00000.gold",
    ]
    try SampleRun().write(to: folders.golden.pending)
    #expect(try names(folders.golden) == files.map { $0 + ".new" })
    #expect(!folders.golden.exists && folders.golden.pending.exists)
    try folders.golden.accept(acceptance)
    #expect(try names(folders.golden) == files)
    #expect(try folders.golden.manifest().accepted == [acceptance])
    try SampleRun().write(to: folders.run)
    #expect(try folders.compare().verdict == .passed)
  }

  @Test func `accept without pending says so`() throws {
    let folders = try SampleFolders()
    let error = #expect(throws: GoldenError.self) { try folders.golden.accept(acceptance) }
    #expect(error?.code == "golden.pending.none")
    #expect(throws: GoldenError.self) { try folders.golden.discardPending() }
  }

  @Test func `a pending golden can be taken back`() throws {
    let folders = try SampleFolders()
    try SampleRun().write(to: folders.golden)
    try changed().write(to: folders.golden.pending)
    try folders.golden.discardPending()
    #expect(!folders.golden.pending.exists)
    #expect(try names(folders.golden).allSatisfy { !$0.hasSuffix(".new") })
    #expect(folders.golden.exists)
  }

  @Test func `what people wrote into golden yml stays, and ten acceptances are kept`() throws {
    let folders = try SampleFolders()
    var run = SampleRun()
    run.manifest.budgets = .init(droppedMax: 3)
    var rule = SinkRule.standard
    rule.position = 2
    run.manifest.compare = CompareRules(["boxes": rule])
    try run.write(to: folders.golden)
    for number in 1...12 {
      try changed().write(to: folders.golden.pending)
      try folders.golden.accept(.init(at: "2026-11-21", reason: "number \(number)"))
    }
    let manifest = try folders.golden.manifest()
    #expect(manifest.accepted.map(\.reason) == (3...12).map { "number \($0)" })
    #expect(manifest.budgets.droppedMax == 3)
    #expect(manifest.compare.bySink["boxes"]?.position == 2)
  }

  @Test func `with its acceptance a known change is marked no more`() throws {
    let folders = try SampleFolders()
    var run = SampleRun()
    run.manifest.expected = [.init(id: "7", frames: "2")]
    try run.write(to: folders.golden)
    try changed().write(to: folders.golden.pending)
    try folders.golden.accept(acceptance)
    #expect(try folders.golden.manifest().expected.isEmpty)
    try changed().write(to: folders.run)
    #expect(try folders.compare().verdict == .passed)
  }

  @Test func `fewer frames leave no results behind`() throws {
    let folders = try SampleFolders()
    try SampleRun(frames: 3_000).write(to: folders.golden.pending)
    try folders.golden.accept(acceptance)
    #expect(folders.golden.fileNames().filter { $0.hasPrefix("results") }.count == 3)
    try SampleRun(frames: 5).write(to: folders.golden.pending)
    try folders.golden.accept(acceptance)
    #expect(folders.golden.fileNames().filter { $0.hasPrefix("results") }.count == 1)
  }

  @Test func `digests of other platforms stay while nothing they depend on changed`() throws {
    let folders = try SampleFolders()
    let notes = folders.golden.url.appending(path: "NOTES.md")
    var other = SampleRun()
    other.platform = "linux-aarch64-fma"
    try other.write(to: folders.golden)
    try Data("mine\n".utf8).write(to: notes)
    try SampleRun().write(to: folders.golden.pending)
    try folders.golden.accept(acceptance)
    #expect(folders.golden.fileNames().filter { $0.hasPrefix("digests") }.count == 2)
    try changed().write(to: folders.golden.pending)
    try folders.golden.accept(acceptance)
    #expect(
      folders.golden.fileNames().filter { $0.hasPrefix("digests") || $0.hasPrefix("env") } == [
        "digests-linux-x86_64-fma.gold", "environment-linux-x86_64-fma.yml",
      ])
    #expect(try String(contentsOf: notes, encoding: .utf8) == "mine\n")
  }

  @Test func `an acceptance interrupted at any step leaves the old or the new golden`() throws {
    var steps = 0
    var outcomes: [Set<String>] = []
    repeat {
      let folders = try SampleFolders()
      try SampleRun(frames: 1_500).write(to: folders.golden)
      try changed(1_100).write(to: folders.golden.pending)
      let old = try folders.golden.manifest().summary.resultDigest
      let new = try folders.golden.pending.manifest().summary.resultDigest
      var count = 0
      let isDone: Bool
      do {
        _ = try folders.golden.accept(acceptance, from: folders.golden.pending) { _ in
          if count == steps { throw Interrupted() }
          count += 1
        }
        isDone = true
      } catch {
        isDone = false
      }
      // A reader now finds a complete golden.
      let found = try folders.golden.manifest().summary.resultDigest
      #expect(found == old || found == new, "step \(steps)")
      let same = found == old ? SampleRun(frames: 1_500) : changed(1_100)
      try same.write(to: folders.run)
      #expect(try folders.compare().verdict == .passed, "step \(steps)")
      outcomes.append([found == old ? "old" : "new"])
      // The next acceptance completes the interrupted acceptance.
      if !folders.golden.pending.exists { try same.write(to: folders.golden.pending) }
      try folders.golden.accept(acceptance)
      #expect(try names(folders.golden).allSatisfy { !$0.hasSuffix(".new") }, "step \(steps)")
      steps = isDone ? -1 : steps + 1
    } while steps >= 0
    #expect(outcomes.first == ["old"] && outcomes.last == ["new"] && outcomes.count > 15)
  }

  @Test func `twenty acceptances at once leave one whole golden`() async throws {
    let folders = try SampleFolders()
    try SampleRun().write(to: folders.golden)
    let golden = folders.golden
    let acceptance = acceptance
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<20 {
        group.addTask {
          _ = try? SampleRun().write(to: golden.pending)
          _ = try? golden.accept(acceptance)
        }
      }
    }
    try SampleRun().write(to: folders.run)
    #expect(try folders.compare().verdict == .passed)
  }

  @Test func `a golden elsewhere can be accepted from`() throws {
    let folders = try SampleFolders()
    let pending = GoldenFolder(folders.temporary.file("elsewhere/yard/motion"), form: .pending)
    try SampleRun().write(to: pending)
    try folders.golden.accept(acceptance, from: pending)
    #expect(folders.golden.exists && !pending.exists)
  }

  @Test func `a run's folder has run json, and an interrupted writer leaves nothing`() throws {
    let folders = try SampleFolders()
    var summary = RunSummary(
      pipeline: "motion-boxes", mode: "every-frame", workers: 2, frames: FrameLedger(),
      decisionDigest: .zero, resultDigest: .zero)
    summary.session = "yard"
    try SampleRun(frames: 1_100).write(to: folders.run, run: summary)
    let json = try Data(contentsOf: folders.run.url.appending(path: "run.json"))
    #expect(try JSONValue(parsing: json).decode(RunSummary.self) == summary)
    try SampleRun().write(to: folders.run)
    #expect(try !names(folders.run).contains("run.json"))
    #expect(try !names(folders.run).contains("results-00001.gold"))

    let run = SampleRun()
    let writer = try GoldenWriter(
      folders.golden,
      plan: .init(
        manifest: run.manifest,
        header: ResultHeader(
          key: "", tracks: [.init(0, TimeBase(1, 30_000))], sinks: ["boxes"]),
        sinks: run.sinks, platform: "x"))
    try writer.append(run.frames[0])
    writer.discard()
    #expect(try names(folders.golden).isEmpty)
  }
}
