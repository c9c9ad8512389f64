import Foundation
import RetakeCore
import RetakeGraph
import RetakeReport
import RetakeTestProjects
import RetakeTestSupport
import Testing

@testable import RetakeSuite

/// What a file would have that a stage reads.
private enum Weights {
  @TaskLocal static var content = ""
}

private struct Weighted: PureStage {
  static let kind = "weighted-pure"
  let fingerprint = Weights.content

  init(options: NoOptions) {}

  func process(_ input: Detections, _ context: StageContext) -> Detections { input }
}

private struct WeightedState: StatefulStage {
  static let kind = "weighted-stateful"
  let fingerprint = Weights.content

  init(options: NoOptions) {}

  mutating func reset() {}

  mutating func process(_ input: Detections, _ context: StageContext) -> Detections { input }
}

@Suite struct ShardPlanTests {
  private func items(_ count: Int, casesPerSession: Int = 1, seed: UInt64) -> [ShardPlan.Item] {
    var random = SeededGenerator(seed: seed)
    return (0..<count).map { number in
      var item = ShardPlan.Item(key: "s\(number / casesPerSession)/case-\(number)")
      item.frames = random.pick(100...9_000)
      item.seconds = Double(random.pick(1_000...90_000)) / 1_000
      return item
    }
  }

  @Test(arguments: 1...20, [1, 3])
  func `the slowest of four shards is at most 15 percent slower than the mean`(
    seed: Int, casesPerSession: Int
  ) {
    let plan = ShardPlan(
      items(40, casesPerSession: casesPerSession, seed: UInt64(seed)), shards: 4)
    let mean = plan.loads.reduce(0, +) / 4
    #expect((plan.loads.max() ?? .infinity) <= 1.15 * mean)
    #expect(plan.items.map(\.key) == (0..<40).map { "s\($0 / casesPerSession)/case-\($0)" })
  }

  @Test func `the same items make the same plan, and any other fact makes another one`() {
    let items = items(30, seed: 7)
    let plan = ShardPlan(items, shards: 3, build: "b", project: "p")
    #expect(plan == ShardPlan(items, shards: 3, build: "b", project: "p"))
    var others = (0..<6).map { _ in items }
    others[0][3].session = "other"
    others[1][3].pipeline = "other"
    others[2][3].files = ["model.onnx": "other"]
    others[3][3].golden = "other"
    others[4][3].frames += 1
    others[5].removeLast()
    let digests =
      others.map { ShardPlan($0, shards: 3, build: "b", project: "p").digest } + [
        plan.digest, ShardPlan(items, shards: 4, build: "b", project: "p").digest,
        ShardPlan(items, shards: 3, build: "c", project: "p").digest,
        ShardPlan(items, shards: 3, build: "b", project: "q").digest,
      ]
    #expect(Set(digests).count == 10)
  }

  @Test func `equal cases are dealt out by name, and short cases of a session stay together`() {
    let equal = ["d/x", "b/x", "c/x", "a/x"].map { ShardPlan.Item(key: $0) }
    #expect(ShardPlan(equal, shards: 2).items.map(\.shard) == [2, 2, 1, 1])
    let sessions = ShardPlan(items(90, casesPerSession: 3, seed: 1), shards: 2).items
    let shards = Dictionary(grouping: sessions) { $0.key.prefix { $0 != "/" } }
      .mapValues { Set($0.map(\.shard)).count }
    #expect(shards.count == 30 && shards.values.allSatisfy { $0 == 1 })
  }

  @Test func `100,000 cases are divided, each once`() {
    let plan = ShardPlan(items(100_000, casesPerSession: 2, seed: 3), shards: 64)
    let counts = (1...64).map { plan.items(of: $0).count }
    #expect(counts.reduce(0, +) == 100_000 && counts.allSatisfy { $0 > 0 })
    let mean = plan.loads.reduce(0, +) / 64
    #expect((plan.loads.max() ?? .infinity) <= 1.001 * mean)
  }

  @Test func `no predicted duration is too large to divide`() {
    let items = (0..<10_000).map { number in
      var item = ShardPlan.Item(key: "s\(number)/case")
      item.seconds = .greatestFiniteMagnitude
      return item
    }
    let plan = ShardPlan(items, shards: 4)
    #expect((1...4).map { plan.items(of: $0).count } == [2_500, 2_500, 2_500, 2_500])
  }

  @Test func `a plan is read as it was written, and not if it was changed`() throws {
    let folder = try TemporaryFolder()
    let plan = ShardPlan(items(5, seed: 2), shards: 2)
    let text = String(decoding: try plan.encoded(), as: UTF8.self)
    let file = try folder.write(text, to: "plan.json").path
    #expect(try ShardPlan(reading: file) == plan)
    for (old, new, code) in [
      ("\"shard\":1", "\"shard\":2", "shard.plan.unreadable"),
      ("\"shards\":2", "\"shards\":0", "shard.plan.unreadable"),
      ("\"version\":\"\(Tool.version)\"", "\"version\":\"9\"", "shard.otherVersion"),
      ("{", "", "shard.plan.unreadable"),
    ] {
      let range = try #require(text.firstRange(of: old))
      try folder.write(text.replacingCharacters(in: range, with: new), to: "plan.json")
      let error = #expect(throws: SuiteError.self) { try ShardPlan(reading: file) }
      #expect(error?.code == code)
    }
    let error = #expect(throws: SuiteError.self) { try ShardPlan(reading: file + "x") }
    #expect(error?.facts.cause == "there is no such file")
  }

  @Test func `durations are predicted from an earlier report, else frames count`() throws {
    let fixture = try ProjectFixture()
    for (name, frames) in [("a", 6), ("b", 12), ("c", 8)] {
      try fixture.record(name, frames: frames)
    }
    let run = SuiteRun(project: try fixture.project(), selection: Selection())
    let plan = try run.makePlan(shards: 2, timings: nil)
    #expect(plan.items.map(\.frames) == [6, 12, 8])
    #expect(plan.items.map(\.shard) == [2, 1, 2])
    #expect(!plan.hasSeconds && plan.build != nil && plan.project != nil)
    #expect(plan.items.allSatisfy { $0.session != nil && $0.pipeline != nil && $0.golden == nil })
    #expect(Set(plan.items.map(\.session)).count == 3)

    var report = try fixture.test().document
    report.cases.removeLast()
    report.cases[0].run?.framesPerSecond = 0.5
    report.cases[1].run?.framesPerSecond = 4
    let timed = try run.makePlan(shards: 2, timings: report)
    // The mean of the others: 18 frames in 15 seconds.
    #expect(timed.items.map(\.seconds) == [12, 3, 6.667])
    #expect(timed.items.map(\.shard) == [1, 2, 2])
  }

  @Test func `every file that decides about a case is part of its item`() throws {
    let fixture = try ProjectFixture(
      """
      v: 1
      cases:
        motion: {pipeline: motion.json}
        slow: {pipeline: motion.json, costs: profile:slow.json}
        stills: {pipeline: stills.json}
      """)
    let profile = #"{"v": 1, "name": "slow-phone", "scale": {"motion": 2.5}}"#
    try fixture.folder.write(profile, to: "slow.json")
    let frame = fixture.folder.file("still.png")
    try Self.picture.write(to: frame)
    try fixture.folder.write(
      """
      {"v": 1, "name": "stills",
       "nodes": [
        {"id": "camera", "kind": "images", "options": {"path": "\(frame.path)"}},
        {"id": "out", "kind": "results"}],
       "edges": [{"from": "camera", "to": "out"}]}
      """, to: "stills.json")
    try fixture.record("a")
    _ = try fixture.test()
    _ = try fixture.accept()
    let run = SuiteRun(project: try fixture.project(), selection: Selection())
    let before = try run.makePlan(shards: 1, timings: nil).items
    #expect(before.map(\.key) == ["own/stills", "a/motion", "a/slow"])
    #expect(before.allSatisfy { $0.pipeline != nil && $0.golden != nil })

    /// The keys of the items that a change of a file makes others.
    func changed(_ file: String, _ bytes: Data) throws -> [String] {
      let url = fixture.folder.file(file)
      let old = try? Data(contentsOf: url)
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try bytes.write(to: url)
      let items = try run.makePlan(shards: 1, timings: nil).items
      try old?.write(to: url) ?? FileManager.default.removeItem(at: url)
      return zip(before, items).filter { $0 != $1 }.map(\.0.key)
    }
    #expect(try changed("slow.json", Data(profile.replacing("2.5", with: "3").utf8)) == ["a/slow"])
    #expect(try changed("still.png", Self.picture + [0]) == ["own/stills"])
    #expect(try changed("Labels/a.json", Data("{}".utf8)) == ["a/motion", "a/slow"])
    let golden = "Goldens/a/motion/alternate-other/golden.yml"
    #expect(try changed(golden, Data("v: 1".utf8)) == ["a/motion"])
    try FileManager.default.removeItem(at: fixture.folder.file("Goldens/a/motion/alternate-other"))
    #expect(try run.makePlan(shards: 1, timings: nil).items == before)
  }

  @Test(arguments: ["pure", "stateful"])
  func `what a stage reads is part of its item by the stage's fingerprint`(role: String) throws {
    let fixture = try ProjectFixture()
    try fixture.folder.write(
      ProjectFixture.pipeline.replacing(
        #"{"id": "boxes", "kind""#,
        with: #"{"id": "weighted", "kind": "weighted-\#(role)"}, {"id": "boxes", "kind""#
      ).replacing(
        #"{"from": "motion", "to": "boxes"}"#,
        with: #"{"from": "motion", "to": "weighted"}, {"from": "weighted", "to": "boxes"}"#),
      to: "motion.json")
    try fixture.record("a", frames: 3)
    /// The item, with stages that read other weights.
    func item(_ weights: String) throws -> ShardPlan.Item {
      var project = try fixture.project()
      project.registry.register(Weighted.self)
      project.registry.register(WeightedState.self)
      let run = SuiteRun(project: project, selection: Selection())
      return try Weights.$content.withValue(weights) {
        try #require(try run.makePlan(shards: 1, timings: nil).items.first)
      }
    }
    let first = try item("one")
    #expect(first.pipeline != nil && first.files["fingerprint of weighted"] != nil)
    #expect(try item("one") == first)
    let other = try item("two")
    #expect(other != first && !other.agrees(with: first))
    #expect(other.difference(from: first) == "'fingerprint of weighted'")
  }

  /// One gray pixel.
  private static let picture =
    Data(
      base64Encoded:
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCB2kUIOwAAAABJ"
        + "RU5ErkJggg==") ?? Data()

  private static let jobs: [(text: String, variables: [String: String], shard: String)] = [
    ("2/4", [:], "2/4"),
    ("auto", ["CI_NODE_INDEX": "2", "CI_NODE_TOTAL": "4"], "2/4"),
    ("auto", ["BUILDKITE_PARALLEL_JOB": "0", "BUILDKITE_PARALLEL_JOB_COUNT": "4"], "1/4"),
    ("auto", ["CIRCLE_NODE_INDEX": "3", "CIRCLE_NODE_TOTAL": "4"], "4/4"),
    (
      "auto",
      [
        "SLURM_ARRAY_TASK_ID": "11", "SLURM_ARRAY_TASK_MIN": "10", "SLURM_ARRAY_TASK_COUNT": "8",
      ], "2/8"
    ),
    ("auto", ["AWS_BATCH_JOB_ARRAY_INDEX": "1", "AWS_BATCH_JOB_ARRAY_SIZE": "3"], "2/3"),
    ("auto/5", ["JOB_COMPLETION_INDEX": "4"], "5/5"),
    ("auto", ["TEST_SHARD_INDEX": "0", "TEST_TOTAL_SHARDS": "2"], "1/2"),
    ("auto/4", ["CI_NODE_INDEX": "2", "CI_NODE_TOTAL": "4"], "2/4"),
  ]

  @Test(arguments: jobs)
  func `a shard is a number, or the number of a parallel job`(
    text: String, variables: [String: String], shard: String
  ) throws {
    let number = try ShardNumber(text, variables: variables)
    #expect("\(number)" == shard)
    #expect(Set(number.source) == Set(variables.map { "\($0)=\($1)" }))
  }

  @Test func `a plan states the number of jobs where no variable does`() throws {
    let variables = ["JOB_COMPLETION_INDEX": "4"]
    #expect("\(try ShardNumber("auto", planned: 6, variables: variables))" == "5/6")
  }

  @Test func `a shard of a plan is named by its index or by the job`() throws {
    let job = ["CI_NODE_INDEX": "2", "CI_NODE_TOTAL": "3"]
    #expect("\(try ShardNumber(index: 3, planned: 3, variables: job))" == "3/3")
    #expect("\(try ShardNumber(index: nil, planned: 3, variables: job))" == "2/3")
    let unnamed = "the variables of the job name no shard"
    let nested = job.merging(["TEST_SHARD_INDEX": "0"]) { $1 }
    for (index, variables, message) in [
      (4, job, "'4' is not a shard"), (nil, [:], unnamed), (nil, nested, unnamed),
    ] {
      let error = #expect(throws: SuiteError.self) {
        try ShardNumber(index: index, planned: 3, variables: variables)
      }
      #expect(error?.facts.message == message && error?.code == "shard.number")
      #expect(error?.facts.advice == "Name a shard of the plan, from 1 to 3: --index 1")
    }
  }

  private static let noShards: [(text: String, variables: [String: String], cause: String)] = [
    ("0/4", [:], "from 1/N to N/N"), ("5/4", [:], "from 1/N to N/N"), ("1/0", [:], "from 1/N"),
    ("1/1001", [:], "at most 1000"), ("2", [:], "the form I/N"), ("a/b", [:], "the form I/N"),
    ("-1/4", [:], "the form I/N"), ("1/2/3", [:], "the form I/N"), ("", [:], "the form I/N"),
    ("auto", [:], "none of these variables is set"),
    ("auto", ["JOB_COMPLETION_INDEX": "4"], "does not say how many"),
    ("auto", ["CI_NODE_INDEX": "x", "CI_NODE_TOTAL": "4"], "not whole numbers"),
    ("auto", ["CI_NODE_INDEX": "5", "CI_NODE_TOTAL": "4"], "from 1/N"),
    ("auto/3", ["CI_NODE_INDEX": "1", "CI_NODE_TOTAL": "4"], "is not one of 3"),
    ("auto", ["CI_NODE_INDEX": "1", "CI_NODE_TOTAL": "4", "TEST_SHARD_INDEX": "0"], "several are"),
    // --array=0,5,9
    (
      "auto",
      [
        "SLURM_ARRAY_TASK_ID": "9", "SLURM_ARRAY_TASK_MIN": "0", "SLURM_ARRAY_TASK_COUNT": "3",
      ], "from 1/N"
    ),
  ]

  @Test(arguments: noShards)
  func `no other text or job names a shard`(
    text: String, variables: [String: String], cause: String
  ) {
    let error = #expect(throws: SuiteError.self) {
      try ShardNumber(text, variables: variables)
    }
    #expect(error?.code == "shard.number")
    #expect(error?.facts.cause?.contains(cause) == true, "\(String(describing: error))")
  }
}
