import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTimePlane
import Testing

@testable import RetakeReplay
@testable import RetakeRuntime

/// Fails on frames whose first sample is in a set, and counts its calls.
private struct Choosy: PureStage {
  static let kind = "choosy"
  let calls: Locked<Int>

  init(calls: Locked<Int>) { self.calls = calls }
  init(options: NoOptions) { calls = Locked(0) }

  func process(_ input: Frame, _ context: StageContext) throws -> Frame {
    calls.withLock { $0 += 1 }
    if [3, 4, 11].contains(input.bytes(of: 0)[0]) {
      throw StageError(code: "choosy.no", message: "not this one")
    }
    return input
  }
}

/// Ends the run at the tenth frame.
private struct GivesUp: PureStage {
  static let kind = "gives-up"
  init() {}
  init(options: NoOptions) {}

  func process(_ input: Frame, _ context: StageContext) throws -> Frame {
    guard context.frame.sequence < 9 else {
      throw StageError(code: "gives-up.now", message: "no more", severity: .unrecoverable)
    }
    return input
  }
}

/// Fails every fourth time: its output depends on all its inputs so far.
private struct Moody: StatefulStage {
  static let kind = "moody"
  private var count = 0

  init() {}
  init(options: NoOptions) {}

  mutating func process(_ input: Frame, _ context: StageContext) throws -> Frame {
    count += 1
    if count.isMultiple(of: 4) { throw StageError(code: "moody.no", message: "not now") }
    return input
  }

  mutating func reset() { count = 0 }
}

@Suite struct SweepTests {
  private let calls = Locked(0)

  private var plain: Pipeline {
    Pipeline.named("plain").source(.session()).stage(Growth(), id: "growth")
      .cost(.quantiles(p50: .milliseconds(40), p99: .milliseconds(90))).on(executor: "vision")
      .executor("vision").queue(capacity: 3, policy: .dropNewest).sink(.numbers, id: "numbers")
  }

  private var choosy: Pipeline {
    Pipeline.named("choosy").source(.session()).stage(Choosy(calls: calls), id: "choosy")
      .cost(.fixed(.milliseconds(20))).queue(capacity: 2, policy: .dropOldest)
      .stage(Growth(), id: "growth").cost(.fixed(.milliseconds(50)))
      .queue(capacity: 1, policy: .dropNewest).sink(.numbers, id: "numbers")
  }

  private var moody: Pipeline {
    Pipeline.named("moody").source(.session()).stage(Moody(), id: "moody")
      .cost(.fixed(.milliseconds(45))).queue(capacity: 1, policy: .dropNewest)
      .stage(Growth(), id: "growth").sink(.numbers, id: "numbers")
  }

  private func sweep(
    _ pipeline: Pipeline, _ text: String, workers: Int = 2, costs: RunCosts = .declared,
    comparesNumbers: Bool = false
  ) throws -> SweepReport {
    var request = Replay.Request(sessionName: "steps", caseName: "sweep")
    request.options = RunOptions(mode: .simulate, workers: workers, seed: 7)
    request.options.costs = costs
    var run = SweepRun(
      pipeline, reader: StepFrames(count: 40), catalog: StageRegistry(), request: request,
      sweep: try Sweep(parsing: text))
    run.comparesNumbers = comparesNumbers
    return try run.run()
  }

  /// The decisions of a replay that computes everything, for a pipeline with another capacity.
  private func decisions(_ pipeline: Pipeline, queue: Int) throws -> Digest128 {
    var pipeline = pipeline
    for index in pipeline.edges.indices { pipeline.edges[index].capacity = queue }
    return try Samples.replay(pipeline, reader: StepFrames(count: 40)) {
      $0.options = RunOptions(mode: .simulate, seed: 7)
    }.run().decisionDigest
  }

  @Test func `each combination decides as a replay of that pipeline does`() throws {
    for pipeline in [plain, choosy, moody] {
      let report = try sweep(pipeline, "queue=1..4")
      let expected = try (1...4).map { try decisions(pipeline, queue: $0) }
      #expect(report.rows.map(\.decisionDigest) == expected)
      #expect(Set(expected).count > 1)
    }
  }

  /// Each frame is one level brighter than the last, so `growth` is the distance to the frame that
  /// was served before: 1 if no frame was dropped.
  @Test func `numbers are compared with those of an every-frame run, frame by frame`() throws {
    for workers in [0, 4] {
      let report = try sweep(plain, "queue=1|2|40", workers: workers, comparesNumbers: true)
      for row in report.rows {
        let numbers = try #require(row.numbers)
        #expect(numbers.map(\.name) == ["growth", "mean"])
        let (growth, level) = (numbers[0], numbers[1])
        let frames = Double(level.frames)
        #expect(level.frames == row.figures.frames.delivered)
        #expect(
          level.meanError == 0 && level.largestError == 0, "a level depends on no other frame")
        let mean = try #require(growth.mean)
        // The first frame has no frame before it.
        let whole = (frames - 1) / frames
        #expect(abs(try #require(growth.meanError) - (mean - whole)) < 1e-12)
        #expect(((growth.largestError ?? 0) > 0) == (row.figures.frames.delivered < 40))
      }
      #expect(report.rows.map(\.figures.frames.delivered).last == 40)
      #expect((report.rows[0].numbers?[0].meanError ?? 0) > 0)
      let decided = try sweep(plain, "queue=1|2|40")
      #expect(report.rows.map(\.figures) == decided.rows.map(\.figures))
      #expect(decided.rows.allSatisfy { $0.numbers == nil })
    }
  }

  @Test(arguments: [false, true])
  func `a run that a stage ends has no figures`(comparesNumbers: Bool) throws {
    let pipeline = Pipeline.named("short").source(.session()).stage(GivesUp(), id: "short")
      .cost(.fixed(.milliseconds(20))).queue(capacity: 2, policy: .dropOldest)
      .stage(Growth(), id: "growth").sink(.numbers, id: "numbers")
    #expect {
      _ = try sweep(pipeline, "queue=1..4", comparesNumbers: comparesNumbers)
    } throws: { ($0 as? StageFailure)?.code == "gives-up.now" }
  }

  @Test func `bodies that cannot fail are not called, and others once a frame at most`() throws {
    let report = try sweep(choosy, "queue=1..8,scale=0.5|1|2")
    #expect(report.rows.count == 24)
    #expect(calls.withLock { $0 } == 40)
    #expect(report.rows.allSatisfy { $0.figures.frames.failed > 0 })
    func need(_ pipeline: Pipeline) throws -> ValueNeed {
      try Samples.replay(pipeline).prepared.valueNeed
    }
    #expect(try need(plain) == .nothing)
    #expect(try need(choosy) == .failures)
    #expect(try need(moody) == .values)
    #expect(try need(fallingBack(gateBehind: false)) == .failures)
    #expect(try need(fallingBack(gateBehind: true)) == .values)
  }

  /// A stage that falls back to the previous frame, followed by a stage that may fail or not. The
  /// second stage receives another frame's value, which depends on the served frames.
  private func fallingBack(gateBehind: Bool) -> Pipeline {
    var pipeline = Pipeline.named("falling").source(.session())
      .stage(Choosy(calls: calls), id: "choosy").cost(.fixed(.milliseconds(40)))
      .queue(capacity: 1, policy: .dropNewest)
      .stage(Choosy(calls: calls), id: "second").cost(.fixed(.milliseconds(10)))
      .stage(Growth(), id: "growth").sink(.numbers, id: "numbers")
    for index in pipeline.nodes.indices where pipeline.nodes[index].id == "choosy" {
      pipeline.nodes[index].fallback = .previous
    }
    if !gateBehind {
      pipeline.nodes.removeAll { $0.id == "second" }
      pipeline.edges.removeAll { $0.from == "second" }
      for index in pipeline.edges.indices where pipeline.edges[index].to == "second" {
        pipeline.edges[index].to = "growth"
      }
    }
    return pipeline
  }

  @Test func `what falls back decides as a replay that computes everything`() throws {
    for isBehind in [false, true] {
      let pipeline = fallingBack(gateBehind: isBehind)
      let report = try sweep(pipeline, "queue=1..3")
      #expect(
        report.rows.map(\.decisionDigest)
          == (try (1...3).map {
            try decisions(pipeline, queue: $0)
          }))
    }
  }

  @Test func `a sink of the program's own is told nothing`() throws {
    let told = Locked(0)
    let sink = AnyStage(
      signature: StageSignature(
        kind: "own", version: 1, role: .sink, input: nil, output: nil), options: .object([:]),
      body: .sink { _ in told.withLock { $0 += 1 } })
    let pipeline = Pipeline.named("own").source(.session()).stage(Moody()).sink(sink, id: "own")
    _ = try sweep(pipeline, "queue=1..3")
    #expect(told.withLock { $0 } == 0)
  }

  @Test(arguments: [0, 1, 4, 8])
  func `a sweep is the same for any number of workers`(workers: Int) throws {
    for pipeline in [plain, choosy, moody] {
      #expect(
        try sweep(pipeline, "queue=1|4,scale=1|1.5", workers: workers)
          == sweep(pipeline, "queue=1|4,scale=1|1.5"))
    }
  }

  @Test func `the last axis changes fastest, and every value stands in its row`() throws {
    let report = try sweep(plain, "growth.queue=3|1,vision.count=1..2,scale=0.5|1")
    #expect(report.axes.map(\.name) == ["growth.queue", "vision.count", "scale"])
    #expect(
      report.rows.map { $0.values.joined(separator: " ") } == [
        "3 1 0.5", "3 1 1", "3 2 0.5", "3 2 1", "1 1 0.5", "1 1 1", "1 2 0.5", "1 2 1",
      ])
    #expect(report.rows.map(\.costs.source) == (0..<4).flatMap { _ in ["scale:0.5", "declared"] })
    #expect(report.idleAxes == ["vision.count"])
    let fast = report.rows[0].figures
    let slow = report.rows[1].figures
    #expect(try #require(fast.latency).p50Nanoseconds < #require(slow.latency).p50Nanoseconds)
  }

  @Test func `what is swept stands over a profile, the rest of which holds`() throws {
    let two = try #require(DecimalRatio(parsing: "2"))
    let profile = DeviceProfile(name: "slow", scale: ["*": two], executors: ["vision": 9])
    let slow = try sweep(plain, "executors=1|2", costs: RunCosts(profile: profile))
    let scaled = try sweep(plain, "executors=1|2,scale=2")
    #expect(slow.rows.map(\.decisionDigest) == scaled.rows.map(\.decisionDigest))
    #expect(slow.rows.allSatisfy { $0.costs.source == "profile:slow@\(profile.digest.short)" })
  }

  @Test(arguments: [
    ("queue=1..6", [6]), ("queue=1..6,executors=1..4", [6, 4]), ("a/b.queue=1|3", [2]),
    ("scale=0.5|1|2", [3]), ("queue=1..3|8|10..11", [6]), ("p.capacity=4,n.concurrency=2", [1, 1]),
    ("queue=1..16,executors=1..16", [16, 16]),
  ])
  func `a sweep is parsed`(text: String, counts: [Int]) throws {
    #expect(try Sweep(parsing: text).axes.map(\.values.count) == counts)
  }

  @Test(arguments: [
    ("", "is not NAME=VALUES"), ("queue", "is not NAME=VALUES"), ("queue=", "is not NAME=VALUES"),
    ("queue=1,", "is not NAME=VALUES"), ("queue=1=2", "is not NAME=VALUES"),
    ("=1", "is not NAME=VALUES"),
    ("queu=1", "Did you mean 'queue'?"), ("motion.size=1", "no parameter 'motion.size'"),
    (".queue=1", "no parameter"), ("queue=0", "1 to 65536"), ("queue=3..1", "1 to 65536"),
    ("queue=1...3", "not a value"), ("queue=1.3", "not a value"), ("queue=+1", "not a value"),
    ("queue=x", "not a value"), ("executors=1025", "1 to 1024"), ("a.concurrency=65", "1 to 64"),
    ("a.capacity=5000", "1 to 4096"), ("scale=1..2", "not a scale"), ("scale=-1", "not a scale"),
    ("queue=1|1", "a value twice"), ("queue=1,queue=2", "comes twice"),
    ("queue=1..257", "more than 256"), ("queue=1..60000", "more than 256"),
    ("queue=1..20,executors=1..20", "more than 256"),
  ])
  func `what is no sweep is refused in words`(text: String, says: String) {
    let error = #expect(throws: ReplayError.self) { try Sweep(parsing: text) }
    #expect(error?.code == "replay.sweep.bad")
    #expect(error?.description.contains(says) == true, "\(String(describing: error))")
  }

  @Test(arguments: [
    ("grwth.queue=1", "Did you mean 'growth'?"), ("camera.queue=1", "is a source"),
    ("visoin.count=1", "Did you mean 'vision'?"), ("pools=1", "has no pools"),
    ("frames.capacity=1", "no pool 'frames'"), ("grwth.concurrency=1", "Did you mean 'growth'?"),
  ])
  func `what the pipeline does not have is named`(text: String, says: String) throws {
    let error = #expect(throws: ReplayError.self) { try sweep(plain, text) }
    #expect(error?.description.contains(says) == true, "\(String(describing: error))")
    let bare = #expect(throws: ReplayError.self) { try sweep(moody, "executors=1") }
    #expect(bare?.description.contains("declares no executors") == true)
  }

  @Test func `a replace edge keeps its one place`() throws {
    let pipeline = Pipeline.named("latest").source(.session()).stage(Growth(), id: "growth")
      .cost(.fixed(.milliseconds(45))).queue(capacity: 1, policy: .replace)
      .sink(.numbers, id: "numbers")
    let report = try sweep(pipeline, "queue=1..2")
    #expect(report.rows[0].figures == report.rows[1].figures)
    let error = #expect(throws: ReplayError.self) { try sweep(pipeline, "growth.queue=2") }
    #expect(error?.description.contains("replaces") == true)
  }
}
