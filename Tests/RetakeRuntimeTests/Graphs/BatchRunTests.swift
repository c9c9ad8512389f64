import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime
import RetakeTimePlane
import Testing

/// Adds the pixels of a frame, and fails for the frame 2.
private struct FragileSum: BatchStage {
  static let kind = "fragile-sum"

  /// The sizes of the batches.
  let sizes: Locked<[Int]>
  /// Outputs that are missing in each batch.
  var missing = 0

  init(_ sizes: Locked<[Int]>) { self.sizes = sizes }
  init(options: NoOptions) { sizes = Locked([]) }

  func process(batch: [(input: Frame, context: StageContext)]) throws -> [Scalars] {
    sizes.withLock { $0.append(batch.count) }
    return try batch.dropLast(missing).map { try process($0.input, $0.context) }
  }

  func process(_ frame: Frame, _ context: StageContext) throws -> Scalars {
    guard context.frame.sequence != 2 else {
      throw StageError(code: "fragile.chosen", message: "a chosen frame")
    }
    return Brightness().process(frame, context)
  }
}

/// A stage that works on waiting frames together.
@Suite struct BatchRunTests {
  private func pipeline(
    _ frames: TinyFrames, _ batch: PipelineBatch?, milliseconds: Int64 = 2, perFrame: Int64? = 1,
    capacity: Int = 3, policy: EdgePolicy = .block,
    stage: AnyStage = AnyStage(Fragile2(failing: []))
  ) -> Pipeline {
    var pipeline = Pipeline(
      [
        .source(frames),
        .stage("detect", stage, milliseconds).with {
          $0.batch = batch
          $0.costPerFrame = perFrame.map { .milliseconds($0) }
        },
        .sink(),
      ], ["camera → detect → sink"])
    pipeline.edges[0].capacity = capacity
    pipeline.edges[0].policy = policy
    return pipeline
  }

  @Test func `a batch starts when it is full, or when its first frame has waited`() throws {
    let (notes, outcome) = try pipeline(
      .on("ff-f------f"), PipelineBatch(max: 3, wait: .milliseconds(5))
    ).noted()
    #expect(
      notes.lines("start", "done") == [
        "@3000000 detect 0:0 start batch=3", "@3000000 detect 0:1 start batch=3",
        "@3000000 detect 0:2 start batch=3", "@8000000 detect 0:0 done",
        "@8000000 detect 0:1 done", "@8000000 detect 0:2 done",
        "@15000000 detect 0:3 start batch=1", "@18000000 detect 0:3 done",
      ])
    #expect(outcome.headline.delivered == 4)
  }

  @Test func `without a wait, a free server takes the frames that are there`() throws {
    let (notes, _) = try pipeline(.on("ffff------f"), PipelineBatch(max: 3)).noted()
    #expect(
      notes.lines("start") == [
        "@0 detect 0:0 start batch=1", "@3000000 detect 0:1 start batch=2",
        "@3000000 detect 0:2 start batch=2", "@7000000 detect 0:3 start batch=1",
        "@10000000 detect 0:4 start batch=1",
      ])
  }

  @Test func `batches of eight serve 500 frames a second where one at a time serves 111`() throws {
    let frames = TinyFrames.at(rate: 1_000, count: 4_000)
    func delivered(_ batch: PipelineBatch?) throws -> Int {
      try pipeline(
        frames, batch, milliseconds: batch == nil ? 9 : 8, perFrame: batch == nil ? nil : 1,
        capacity: 16, policy: .dropNewest
      ).noted().outcome.headline.delivered
    }
    // 8 ms and 1 ms for each of 8 frames are 16 ms: 250 batches in four seconds, and then the 16
    // frames that wait.
    #expect(
      (2_000...2_016).contains(try delivered(PipelineBatch(max: 8, wait: .milliseconds(5)))))
    #expect((444...461).contains(try delivered(nil)))
  }

  @Test(arguments: [RunOptions.Mode.simulate, .everyFrame])
  func `the frames of a batch are computed in one call, with the results of single calls`(
    _ mode: RunOptions.Mode
  ) throws {
    let frames = TinyFrames.on("ffff-fff-----f")
    func run(workers: Int, callsBatches: Bool) throws -> (sizes: [Int], notes: Notes) {
      let sizes = Locked<[Int]>([])
      var options = RunOptions(mode: mode, workers: workers)
      options.callsBatches = callsBatches
      let notes = try pipeline(
        frames, PipelineBatch(max: 3, wait: .milliseconds(5)), stage: AnyStage(FragileSum(sizes))
      ).noted(options).notes
      return (sizes.withLock { $0 }, notes)
    }
    let single = try run(workers: 2, callsBatches: false)
    #expect(single.sizes == [])
    #expect(single.notes.fates == "..x.....")
    for workers in [0, 1, 2, 8] {
      let batches = try run(workers: workers, callsBatches: true)
      #expect(batches.sizes.sorted() == [3, 3], "\(workers) workers")
      #expect(batches.notes.lines == single.notes.lines)
      #expect(batches.notes.frames.map(\.digests) == single.notes.frames.map(\.digests))
      #expect(batches.notes.failures == single.notes.failures)
    }
  }

  @Test func `a batch without an output for each frame halts the run`() throws {
    var stage = FragileSum(Locked([]))
    stage.missing = 1
    let batch = PipelineBatch(max: 2, wait: .milliseconds(5))
    let outcome = try pipeline(.on("ff"), batch, stage: AnyStage(stage)).noted().outcome
    let halt = try #require(outcome.halt)
    #expect("\(halt)".contains("returned 1 output for a batch of 2 frames"))
  }

  @Test func `a batch keeps its slot until its last output has left`() throws {
    var pipeline = Pipeline(
      [
        .source(.on("ffffff")),
        .stage("detect", AnyStage(Fragile2(failing: [])), 1).with {
          $0.batch = PipelineBatch(max: 2, wait: .milliseconds(5))
        },
        .stage("slow", AnyStage(Brightness()), 10), .sink(),
      ], ["camera → detect → slow → sink"])
    pipeline.edges[1].capacity = 1
    let (notes, _) = try pipeline.noted()
    // Frame 1 waits at the slow stage from 2 ms on, frame 2 until 12 ms, and frame 3 until 22 ms.
    #expect(
      notes.lines("start").filter { $0.contains(" detect ") } == [
        "@1000000 detect 0:0 start batch=2", "@1000000 detect 0:1 start batch=2",
        "@3000000 detect 0:2 start batch=2", "@3000000 detect 0:3 start batch=2",
        "@22000000 detect 0:4 start batch=2", "@22000000 detect 0:5 start batch=2",
      ])
  }

  @Test func `recorded costs of a batch add up`() throws {
    var options = RunOptions(mode: .simulate)
    options.costs.timings = try RecordedTimings.of((0..<3).map { ("detect", $0, -1, 4_000_000) })
    let (notes, _) = try pipeline(
      .on("fff"), PipelineBatch(max: 3, wait: .milliseconds(5))
    ).noted(options)
    #expect(Set(notes.lines("done").map { $0.prefix { $0 != " " } }) == ["@14000000"])
  }

  @Test func `in every-frame mode batches fill, take no time and lose nothing`() throws {
    let (notes, outcome) = try pipeline(
      .on("fffffff"), PipelineBatch(max: 3, wait: .milliseconds(5))
    ).noted(RunOptions(mode: .everyFrame))
    #expect(notes.lines("start").map { String($0.suffix(1)) }.joined() == "3333331")
    #expect(outcome.headline.delivered == 7)
    let done = notes.lines("done").map { $0.prefix { $0 != " " } }
    #expect(done.last == "@11000000" && done.first == "@2000000")
  }
}
