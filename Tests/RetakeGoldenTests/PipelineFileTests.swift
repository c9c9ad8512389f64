import Foundation
import RetakeCompare
import RetakeCore
import RetakeGraph
import Testing

@testable import RetakeGolden

/// pipeline.json next to golden.yml, and the reports of comparisons about it.
@Suite struct PipelineFileTests {
  private static func record(
    threshold: Int = 24, cost: String = "45ms", name: String = "motion-boxes",
    more: String = ""
  ) throws -> PipelineRecord {
    let text = """
      {"v": 1, "name": "\(name)",
       "nodes": [
        {"id": "camera", "kind": "session"},
        {"id": "grey", "kind": "grey"},
        {"id": "motion", "kind": "motion", "options": {"threshold": \(threshold)\(more)},
         "cost": {"fixed": "\(cost)"}},
        {"id": "boxes", "kind": "results", "primary": true}],
       "edges": [
        {"from": "camera", "to": "grey"},
        {"from": "grey", "to": "motion", "policy": "dropNewest"},
        {"from": "motion", "to": "boxes"}]}
      """
    return try PipelineRecord(parsing: Data(text.utf8))
  }

  private static func sample(
    _ record: PipelineRecord?, changed: Bool = false, costs: String = "none"
  ) -> SampleRun {
    var run = SampleRun(frames: 20)
    run.pipeline = record
    run.manifest.testCase.costs = costs
    if changed {
      run.changeStage(2, from: 4)
      for sequence in 4..<20 { run.setFacts([SampleRun.box(sequence, dx: 5)], at: sequence) }
    }
    return run
  }

  private func text(_ folder: GoldenFolder) throws -> String {
    try String(contentsOf: folder.file("pipeline.json"), encoding: .utf8)
  }

  private func has(_ folder: GoldenFolder) -> Bool {
    FileManager.default.fileExists(atPath: folder.file("pipeline.json").path)
  }

  // MARK: messages

  @Test func `a changed option is named with its old and new value`() throws {
    let comparison = try SampleFolders.compare(
      Self.sample(Self.record()), Self.sample(Self.record(threshold: 40), changed: true))
    #expect(comparison.verdict == .changed)
    #expect(comparison.suspects == ["the pipeline changed: motion.threshold: 24 → 40"])
    #expect(comparison.pipelineChanges.map(\.place) == ["motion.threshold"])
    #expect(comparison.pipelineChanges.first?.old == "24")
    #expect(comparison.pipelineChanges.first?.new == "40")
    #expect(comparison.rootCauses.first?.origin == .pipeline)
  }

  @Test func `ten changes are named and the others counted`() throws {
    let many = (10..<40).map { ", \"o\($0)\": 1" }.joined()
    let comparison = try SampleFolders.compare(
      Self.sample(Self.record()), Self.sample(Self.record(more: many), changed: true))
    #expect(comparison.suspects.count == 11 && comparison.pipelineChanges.count == 10)
    #expect(comparison.suspects.first == "the pipeline changed: motion.o10: not set → 1")
    #expect(comparison.suspects.last == "the pipeline changed in 20 other places, too")
  }

  @Test func `a golden without the document says so, with the digests and what to do`() throws {
    let run = Self.sample(try Self.record(threshold: 40), changed: true)
    var golden = Self.sample(try Self.record())
    let digest = golden.manifest.pipeline.digest
    golden.pipeline = nil
    let comparison = try SampleFolders.compare(golden, run)
    #expect(comparison.verdict == .changed && comparison.suspects.count == 1)
    let words = try #require(comparison.suspects.first)
    #expect(
      words.hasPrefix(
        "the pipeline changed: motion-boxes \(run.manifest.pipeline.digest.short), "
          + "the golden has motion-boxes \(digest.short); the change is unknown"), "\(words)")
    #expect(
      words.contains("'retake golden sync-rules --pipelines'") && words.contains("'retake accept'"))
    #expect(comparison.pipelineChanges.isEmpty && comparison.rootCauses.first?.origin == .pipeline)
    let other = try SampleFolders.compare(Self.sample(try Self.record(threshold: 40)), golden)
    #expect(
      other.suspects.first?.hasSuffix("this run has no pipeline.json: replay it again") == true)
  }

  @Test func `a name alone is no change`() throws {
    let comparison = try SampleFolders.compare(
      Self.sample(Self.record()), Self.sample(Self.record(name: "other"), changed: true))
    #expect(comparison.suspects.isEmpty && comparison.rootCauses.first?.origin == .code)
  }

  @Test func `costs are a change where they are used, and the golden's are known`() throws {
    func compare(_ golden: PipelineRecord, _ costs: String) throws -> Comparison {
      try SampleFolders.compare(
        Self.sample(golden, costs: costs),
        Self.sample(Self.record(cost: "60ms"), changed: true, costs: costs))
    }
    let used = try compare(Self.record(), "declared")
    #expect(used.suspects == ["the pipeline changed: motion.cost: 45ms → 60ms"])
    #expect(used.rootCauses.first?.origin == .pipeline)
    let unused = try compare(Self.record(), "none")
    #expect(unused.suspects.isEmpty && unused.rootCauses.first?.origin == .code)
    let unknown = try compare(Self.record().withoutCosts, "declared")
    #expect(unknown.suspects.isEmpty && unknown.rootCauses.first?.origin == .code)
  }

  // MARK: the program

  private func suspects(
    kinds: Set<String>?, _ change: (inout SampleRun, inout SampleRun) -> Void = { _, _ in }
  ) throws -> [String] {
    var golden = Self.sample(try Self.record())
    var actual = Self.sample(try Self.record(), changed: true)
    change(&golden, &actual)
    let folders = try SampleFolders()
    try golden.write(to: folders.golden)
    try actual.write(to: folders.run)
    var options = GoldenComparator.Options(platform: SampleRun.platform)
    options.builtInKinds = kinds
    return try GoldenComparator(golden: folders.golden, actual: folders.run, options: options)
      .compare().suspects
  }

  @Test func `with the same pipeline the code of a stage of the program's own is a suspect`() throws
  {
    let words =
      "the pipeline is the same: the code of stage 'motion' changed, or data that it reads "
      + "besides its input ('retake verify' finds a stage that is not deterministic)"
    #expect(try suspects(kinds: ["session", "grey", "results"]) == [words])
    // The same for a golden without a document: the digest is equal.
    #expect(
      try suspects(kinds: ["grey"]) { golden, _ in golden.pipeline = nil } == [words])
    // Libraries that were not recorded may be different.
    #expect(
      try suspects(kinds: ["grey"]) { golden, _ in golden.environment = [:] }
        == [words.replacing("its input (", with: "its input, or a library (")])
  }

  @Test func `nothing is claimed of the program where something else explains it`() throws {
    #expect(try suspects(kinds: ["motion"]).isEmpty)
    #expect(try suspects(kinds: nil).isEmpty)
    #expect(
      try suspects(kinds: []) { _, actual in actual.environment["libavcodec"] = "60.0.0" }
        == ["libavcodec is 60.0.0, the golden was made with 59.37.100"])
    #expect(
      try suspects(kinds: []) { _, actual in actual.manifest.models = ["faces": "aa"] }
        == ["the model faces is new: sha256 aa…, the golden was made without it"])
    #expect(
      try suspects(kinds: []) { golden, actual in
        golden.manifest.models = ["faces": "0123456789abcdef", "mood": "11"]
        actual.manifest.models = ["faces": "fedcba9876543210"]
      } == [
        "the model faces changed: sha256 fedcba987654…, the golden has 0123456789ab…",
        "the model mood of the golden is no longer read",
      ])
    #expect(
      try suspects(kinds: []) { _, actual in actual.pipeline = try? Self.record(threshold: 40) }
        == ["the pipeline changed: motion.threshold: 24 → 40"])
    // Without stage digests no stage is named.
    #expect(
      try suspects(kinds: []) { golden, _ in golden.platform = "linux-aarch64-fma" }.isEmpty)
    // The run equals its golden.
    #expect(try suspects(kinds: []) { golden, actual in actual = golden }.isEmpty)
  }

  // MARK: files that do not fit

  private static let damages: [(from: String, to: String, says: String)] = [
    ("24", "40", "it is not the golden's pipeline: its digest is "),
    ("dropNewest", "dropOldest", "it is not the golden's pipeline: its digest is "),
    ("motion-boxes", "other", "it is called 'other', in golden.yml 'motion-boxes'"),
    ("{", "[", "this is not a pipeline document"),
    ("\"v\": 1", "\"v\": 2", "the document has version 2"),
    ("\"v\": 1", "\"v\": 1, \"w\": 1", "it is not the golden's pipeline: its digest is "),
  ]

  @Test(arguments: damages.indices, [false, true])
  func `a document that is not the golden's is an error that names the file`(
    index: Int, isRun: Bool
  ) throws {
    let damage = Self.damages[index]
    let folders = try SampleFolders()
    try Self.sample(Self.record()).write(to: folders.golden)
    try Self.sample(Self.record()).write(to: folders.run)
    #expect(try folders.compare().verdict == .passed)
    let folder = isRun ? folders.run : folders.golden
    let changed = try text(folder).replacing(damage.from, with: damage.to)
    #expect(try changed != text(folder))
    try Data(changed.utf8).write(to: folder.file("pipeline.json"))
    let error = #expect(throws: GoldenError.self) { try folders.compare() }
    #expect(error?.code == "golden.file.inconsistent")
    #expect(error?.place?.file == folder.file("pipeline.json").path)
    #expect(error?.message.contains(damage.says) == true, "\(error?.message ?? "")")
    #expect(error?.advice?.contains("retake golden sync-rules --pipelines") == true)
  }

  @Test func `a link, a folder and a file that is too large are refused`() throws {
    let folders = try SampleFolders()
    try Self.sample(Self.record()).write(to: folders.golden)
    try Self.sample(Self.record()).write(to: folders.run)
    let file = folders.golden.file("pipeline.json")
    let kept = folders.temporary.file("kept.json")
    try FileManager.default.moveItem(at: file, to: kept)
    var advice: [String] = []
    for place in [
      { try FileManager.default.createSymbolicLink(at: file, withDestinationURL: kept) },
      { try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false) },
      { try Data(count: PipelineDocument.bytesMax + 1).write(to: file) },
    ] {
      try place()
      let error = #expect(throws: GoldenError.self) { try folders.compare() }
      #expect(error?.code == "golden.io" && error?.place?.file == file.path)
      advice.append(error?.advice ?? "")
      try FileManager.default.removeItem(at: file)
    }
    #expect(try folders.compare().verdict == .passed)
    #expect(advice[0] == "Put a regular file in its place" && advice[1] == advice[0])
    #expect(advice[2].hasPrefix("Retake writes no such file: restore it"), "\(advice)")
  }

  @Test func `a budget of time that is exceeded names the primary sink`() throws {
    func document(_ primary: String) throws -> PipelineRecord {
      let text = """
        {"v": 1, "name": "two",
         "nodes": [
          {"id": "camera", "kind": "session"}, {"id": "motion", "kind": "motion"},
          {"id": "boxes", "kind": "results"\(primary)}, {"id": "view", "kind": "results"}],
         "edges": [
          {"from": "camera", "to": "motion"}, {"from": "camera", "to": "view"},
          {"from": "motion", "to": "boxes"}]}
        """
      return try PipelineRecord(parsing: Data(text.utf8))
    }
    for (primary, sink) in [(", \"primary\": true", "boxes"), ("", "view")] {
      let record = try document(primary)
      #expect(record.primarySink == sink)
      var manifest = SampleRun().manifest
      manifest.budgets = .init(latencyMax: 1)
      manifest.summary.latency = .init(
        max: 2, p99: 2, slowest: FrameID(track: 0, sequence: 7))
      manifest.pipeline.nodes = ["camera", "motion", "view", "boxes"]
      let header = ResultHeader(
        key: "", tracks: [.init(0, TimeBase(1, 30_000))], sinks: ["boxes", "view"])
      var comparator = ResultComparator(golden: header, actual: header, rules: CompareRules())
      _ = BudgetCheck((manifest, manifest), primarySink: record.primarySink).run(&comparator)
      #expect(comparator.log.findings.map(\.node) == [sink])
    }
  }

  // MARK: accept, merge, reject

  @Test func `accept takes the document over, and no document stays that is another golden's`()
    throws
  {
    let folders = try SampleFolders()
    let acceptance = GoldenManifest.Acceptance(at: "2026-11-21", reason: "right")
    try Self.sample(Self.record()).write(to: folders.golden.pending)
    #expect(has(folders.golden.pending) && !has(folders.golden))
    try folders.golden.accept(acceptance)
    #expect(try text(folders.golden) == Self.record().text && !has(folders.golden.pending))
    try Self.sample(Self.record(threshold: 40), changed: true).write(to: folders.golden.pending)
    try folders.golden.accept(acceptance)
    #expect(try text(folders.golden) == Self.record(threshold: 40).text)
    // A result from before documents were stored.
    try Self.sample(nil).write(to: folders.golden.pending)
    try folders.golden.accept(acceptance)
    #expect(!has(folders.golden) && folders.golden.exists)
  }

  @Test func `a pending document that was altered is not compared, and goes with its result`()
    throws
  {
    let folders = try SampleFolders()
    try Self.sample(Self.record()).write(to: folders.golden)
    try Self.sample(Self.record(threshold: 40), changed: true).write(to: folders.golden.pending)
    let file = folders.golden.pending.file("pipeline.json")
    #expect(file.lastPathComponent == "pipeline.json.new")
    try Data(Self.record().text.utf8).write(to: file)
    let comparator = GoldenComparator(golden: folders.golden, actual: folders.golden.pending)
    let error = #expect(throws: GoldenError.self) { try comparator.compare() }
    #expect(error?.place?.file == file.path)
    #expect(error?.advice == "Make the pending result again: retake test")
    try folders.golden.discardPending()
    #expect(!has(folders.golden.pending) && has(folders.golden))
  }

  private static let options: GoldenComparator.Options = {
    var options = GoldenComparator.Options(platform: SampleRun.platform)
    options.findingLimit = .max
    return options
  }()

  /// Two sinks: boxes after motion, and hues after color.
  private static func wide(_ record: PipelineRecord?, differs: Bool) -> SampleRun {
    var run = sample(record)
    run.columns.append(StageColumn("colour", inputs: ["grey"]))
    run.sinks.append(.init("hues"))
    run.manifest.precision["hues"] = .default
    run.manifest.pipeline.sinks = ["boxes": ["motion"], "hues": ["colour"]]
    for index in run.frames.indices {
      let isOther = differs && index == 9
      run.frames[index].outcomes.append(
        SinkOutcome(
          sink: "hues", content: .facts([.scalar(name: "hue", value: isOther ? 7 : 1)])))
      run.rows[index].cells.append(SampleRun.cell("colour", index, isOther ? "changed" : ""))
    }
    guard differs else { return run }
    run.setFacts([SampleRun.box(3, dx: 5)], at: 3)
    run.rows[3].cells[2] = SampleRun.cell("motion", 3, "changed")
    return run
  }

  @Test(arguments: [false, true])
  func `what is accepted or rejected in part keeps the document that golden yml names`(
    isRejected: Bool
  ) throws {
    let folders = try SampleFolders()
    try Self.wide(Self.record(), differs: false).write(to: folders.golden)
    try Self.wide(Self.record(threshold: 40), differs: true).write(to: folders.golden.pending)
    let before = try folders.golden.manifest().pipeline
    if isRejected {
      let split = try folders.golden.reject(options: Self.options) { $0.stage == "colour" }
      #expect(split.left.count == 1 && split.chosen.count == 1)
      let pending = folders.golden.pending
      #expect(try pending.manifest().pipeline == before)
      #expect(try text(pending) == Self.record().text)
    } else {
      let split = try folders.golden.accept(
        options: Self.options, rootCauses: { $0.stage == "colour" }
      ) { rootCauses, frames in
        .init(at: "2026-11-21", reason: "right", rootCauses: rootCauses.map(\.id), frames: frames)
      }
      #expect(split.left.count == 1 && split.chosen.count == 1)
      #expect(try text(folders.golden.pending) == Self.record(threshold: 40).text)
    }
    #expect(try folders.golden.manifest().pipeline == before)
    #expect(try text(folders.golden) == Self.record().text)
    let left = try GoldenComparator(
      golden: folders.golden, actual: folders.golden.pending, options: Self.options
    ).compare()
    #expect(left.verdict == .changed && left.rootCauses.count == 1)
  }

  @Test func `an acceptance in part of a golden without a document adds none`() throws {
    let folders = try SampleFolders()
    var golden = Self.wide(try Self.record(), differs: false)
    golden.pipeline = nil
    try golden.write(to: folders.golden)
    try Self.wide(Self.record(), differs: true).write(to: folders.golden.pending)
    _ = try folders.golden.accept(options: Self.options, rootCauses: { $0.stage == "colour" }) {
      _, _ in
      .init(at: "2026-11-21", reason: "right")
    }
    #expect(!has(folders.golden) && has(folders.golden.pending))
  }

  @Test func `a run's folder has the document, and a later run without one takes it away`() throws {
    let folders = try SampleFolders()
    try Self.sample(Self.record()).write(to: folders.run)
    #expect(try text(folders.run) == Self.record().text)
    #expect(folders.run.fileNames().contains("pipeline.json"))
    try Self.sample(nil).write(to: folders.run)
    #expect(!has(folders.run))
  }

  // MARK: adopting

  @Test func `a golden adopts the document of its own pipeline, without costs`() throws {
    let folders = try SampleFolders()
    var golden = Self.sample(try Self.record())
    golden.pipeline = nil
    try golden.write(to: folders.golden)
    let manifest = try String(contentsOf: folders.golden.file("golden.yml"), encoding: .utf8)

    #expect(try folders.golden.adopt(Self.record(threshold: 40)) == .otherPipeline)
    #expect(try folders.golden.adopt(Self.record(), isDryRun: true) == .added)
    #expect(!has(folders.golden))
    // Renamed since then: golden.yml has the old name.
    #expect(try folders.golden.adopt(Self.record(cost: "60ms", name: "other")) == .added)
    #expect(try text(folders.golden) == Self.record().withoutCosts.text)
    #expect(try folders.golden.adopt(Self.record()) == .present)
    #expect(
      try String(contentsOf: folders.golden.file("golden.yml"), encoding: .utf8) == manifest)
    try Self.sample(Self.record(threshold: 40), changed: true).write(to: folders.run)
    #expect(
      try folders.compare().suspects == ["the pipeline changed: motion.threshold: 24 → 40"])
    // A document that was altered is written again.
    try Data(Self.record(threshold: 7).text.utf8).write(to: folders.golden.file("pipeline.json"))
    #expect(try folders.golden.adopt(Self.record()) == .added)
    #expect(try text(folders.golden) == Self.record().withoutCosts.text)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folders.golden.url.path)
        .allSatisfy { !$0.hasSuffix(".new") })
  }

  @Test func `without a golden nothing is adopted`() throws {
    let folders = try SampleFolders()
    let error = #expect(throws: GoldenError.self) { try folders.golden.adopt(Self.record()) }
    #expect(error?.code == "golden.missing")
  }
}
