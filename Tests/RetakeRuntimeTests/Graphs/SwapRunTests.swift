import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime
import RetakeTimePlane
import Testing

private let millisecond: Int64 = 1_000_000

@Suite struct SwapRunTests {
  /// Finds one object in each frame, every 10 ms.
  private let pipeline = Pipeline(
    [
      .source(TinyFrames.at(rate: 100, count: 8)),
      .stage("find", AnyStage(Finder(Array(repeating: 1, count: 8))), 4), .sink(),
    ], ["camera → find → sink"])

  private let two = AnyStage(Finder(Array(repeating: 2, count: 8)))

  private func run(_ swaps: StageSwap..., workers: Int = 1) throws -> (Notes, RunOutcome) {
    var options = RunOptions(mode: .simulate, workers: workers)
    options.overrides = swaps.map { .swap($0) }
    let (notes, outcome) = try pipeline.noted(options)
    return (notes, outcome)
  }

  private func counts(_ notes: Notes) -> [Int] {
    notes.frames.map {
      if case .facts(let facts) = $0.result.outcomes[0].content { facts.count } else { -1 }
    }
  }

  @Test func `a new stage is in force for frames that arrive once it is prepared`() throws {
    let (notes, _) = try run(
      StageSwap(
        at: .nanoseconds(20 * millisecond), node: "find", stage: two,
        prepare: .milliseconds(30)))
    #expect(counts(notes) == [1, 1, 1, 1, 1, 2, 2, 2])
    #expect(
      notes.lines("swapPrepare", "swap") == [
        "@20000000 find - swapPrepare", "@50000000 find - swap epoch=1",
      ])
  }

  @Test func `in every-frame mode a new stage takes no time to prepare`() throws {
    let swap = StageSwap(
      at: .nanoseconds(20 * millisecond), node: "find", stage: two, prepare: .milliseconds(30))
    var options = RunOptions(mode: .everyFrame)
    options.overrides = [.swap(swap)]
    let (notes, _) = try pipeline.noted(options)
    #expect(counts(notes) == [1, 1, 2, 2, 2, 2, 2, 2])
    #expect(notes.lines("swap") == ["@20000000 find - swap epoch=1"])
  }

  @Test func `a new stage that keeps its input keeps the buffer that its input lies in`() throws {
    // Only the sink has a duration: it holds each result for 5 ms.
    var pipeline = Pipeline(
      [
        .source(.on("f-----f--f")).with { $0.pool = "frames" },
        .stage("copy", AnyStage(Fragile2(failing: []))), .sink(),
      ], ["camera → copy → sink"], pools: [PipelinePool(id: "frames", capacity: 1)])
    pipeline.nodes[2].hold = .milliseconds(5)
    #expect(try pipeline.noted().notes.lines("lost").isEmpty)
    var options = RunOptions(mode: .simulate)
    options.overrides = [
      .swap(
        StageSwap(
          at: .arrival(FrameID(track: 0, sequence: 1)), node: "copy",
          stage: Fragile2(failing: []).keeping))
    ]
    #expect(
      try pipeline.noted(options).notes.lines("lost") == ["@9000000 camera 0:2 lost reason=pool"])
  }

  @Test func `a swap may come into force at the instant of the first frame's timeout`() throws {
    var pipeline = pipeline
    pipeline.nodes[1].timeout = .milliseconds(2)
    var options = RunOptions(mode: .simulate)
    options.overrides = [
      .swap(StageSwap(at: .nanoseconds(0), node: "find", stage: two, prepare: .milliseconds(2)))
    ]
    let (notes, _) = try pipeline.noted(options)
    #expect(
      notes.lines("swap", "timeout").prefix(2) == [
        "@2000000 find - swap epoch=1", "@2000000 find 0:0 timeout",
      ])
  }

  @Test func `heat and a refused swap may meet at a throttle`() throws {
    let cooled = Pipeline(
      [
        .source(TinyFrames.at(rate: 100, count: 3)),
        .stage("throttle", Nodes.throttle(0, rules: [DeviceRule(thermal: .serious, fps: 50)])),
        .stage("count", AnyStage(Brightness())), .sink(),
      ], ["camera → throttle → count → sink"])
    var options = RunOptions(mode: .simulate)
    options.overrides = [
      .swap(StageSwap(at: .nanoseconds(0), node: "throttle", stage: two)),
      .event(atNanoseconds: 0, .thermal(.critical)),
    ]
    let (notes, _) = try cooled.noted(options)
    #expect(
      notes.lines("swapRefused", "throttle") == [
        "@0 throttle - swapRefused code=swap.noStage", "@0 throttle - throttle interval=20000000",
      ])
  }

  @Test func `a frame's arrival is a moment, and the frame has the new stage`() throws {
    let (notes, _) = try run(
      StageSwap(at: .arrival(FrameID(track: 0, sequence: 3)), node: "find", stage: two))
    #expect(counts(notes) == [1, 1, 1, 2, 2, 2, 2, 2])
  }

  @Test func `a new stage has the cost that came with it, or none`() throws {
    for cost in [1, nil] as [Int64?] {
      let (notes, _) = try run(
        StageSwap(
          at: .arrival(FrameID(track: 0, sequence: 3)), node: "find", stage: two,
          cost: cost.map { .fixed(.milliseconds($0)) }))
      func times(_ kind: String) -> [Int64] {
        notes.lines.filter { $0.kind.rawValue == kind }.map(\.time)
      }
      #expect(
        zip(times("start"), times("done")).map { $1 - $0 }
          == [4, 4, 4].map { $0 * millisecond }
          + Array(repeating: (cost ?? 0) * millisecond, count: 5))
    }
  }

  @Test func `a frame that never arrives brings no swap`() throws {
    for id in [FrameID(track: 0, sequence: 8), FrameID(track: 1, sequence: 0)] {
      let (notes, _) = try run(StageSwap(at: .arrival(id), node: "find", stage: two))
      #expect(notes.lines("swapPrepare", "swap", "swapRefused").isEmpty)
      #expect(Set(counts(notes)) == [1])
    }
  }

  @Test func `a stage of another type is refused, and the old one goes on`() throws {
    let (notes, _) = try run(
      StageSwap(at: .nanoseconds(0), node: "find", stage: AnyStage(Brightness())))
    #expect(Set(counts(notes)) == [1])
    #expect(
      notes.lines("swapRefused") == ["@0 find - swapRefused code=swap.outputMismatch"])
  }

  @Test func `a stage that gives other pixels is refused`() throws {
    let frames = Pipeline(
      [
        .source(TinyFrames.at(rate: 100, count: 3)), .stage("paint", AnyStage(Painter())),
        .stage("sum", AnyStage(Brightness())), .sink(),
      ], ["camera → paint → sum → sink"])
    var options = RunOptions()
    options.overrides = [
      .swap(
        StageSwap(
          at: .nanoseconds(0), node: "paint",
          stage: AnyStage(Painter(options: .init(format: .rgb)))))
    ]
    let (notes, outcome) = try frames.noted(options)
    #expect(
      notes.lines("swapRefused") == ["@0 paint - swapRefused code=swap.outputFormatMismatch"])
    #expect(outcome.headline.delivered == 3)
  }

  @Test func `a swap is the same for any number of workers`() throws {
    let swap = StageSwap(
      at: .arrival(FrameID(track: 0, sequence: 2)), node: "find", stage: two,
      prepare: .milliseconds(15))
    let runs = try [0, 1, 2, 4].map { try run(swap, workers: $0) }
    #expect(Set(runs.map(\.1.decisionDigest)).count == 1)
    #expect(Set(runs.map { counts($0.0) }).count == 1)
  }
}

/// Declares that it produces frames of a format.
private struct Painter: PureStage {
  static let kind = "painter"
  struct Options: StageOptions {
    var format = PixelFormat.gray
  }
  let options: Options

  init(options: Options = Options()) { self.options = options }

  func outputFormat(for input: PixelFormat) -> PixelFormat { options.format }
  func process(_ frame: Frame, _ context: StageContext) -> Frame { frame }
}
