import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime
import Testing

private let millisecond: Int64 = 1_000_000

@Suite struct DeviceEventRunTests {
  private static let rules = [
    DeviceRule(thermal: .serious, fps: 25), DeviceRule(memory: .warning, fps: 25),
  ]

  /// Frames every 10 ms, thinned to 50 a second, or to 25 when the device is hot or short.
  private func pipeline(
    _ frames: Int, fps: Double = 50, events: [TimedDeviceEvent] = []
  ) -> Pipeline {
    var reader = TinyFrames.at(rate: 100, count: frames)
    reader.events = events
    return Pipeline(
      [
        .source(reader), .stage("throttle", Nodes.throttle(fps, rules: Self.rules)),
        .stage("count", AnyStage(Brightness())), .sink(),
      ], ["camera → throttle → count → sink"])
  }

  private func options(
    _ events: [(milliseconds: Int64, event: DeviceEvent)], mode: RunOptions.Mode = .redecide
  ) -> RunOptions {
    var options = RunOptions(mode: mode)
    options.overrides = events.map {
      .event(atNanoseconds: $0.milliseconds * millisecond, $0.event)
    }
    return options
  }

  private let heat: [(milliseconds: Int64, event: DeviceEvent)] = [
    (40, .thermal(.serious)), (100, .thermal(.nominal)),
  ]

  @Test func `the rate follows the device, from the instant on at which it changes`() throws {
    let (notes, _) = try pipeline(15).noted(options(heat))
    #expect(notes.fates == ".t.tt.ttt.tt.t.")
    #expect(
      notes.lines("throttle") == [
        "@40000000 throttle - throttle interval=40000000",
        "@100000000 throttle - throttle interval=20000000",
      ])
  }

  @Test func `the session's events do what overrides at the same times do`() throws {
    let recorded = heat.enumerated().map { index, heat in
      TimedDeviceEvent(
        ordinal: index, timestamp: Timestamp(nanoseconds: heat.milliseconds * millisecond),
        event: heat.event)
    }
    let own = try pipeline(15, events: recorded).noted(options([])).outcome
    #expect(own.decisionDigest == (try pipeline(15).noted(options(heat)).outcome.decisionDigest))
    #expect(own.decisionDigest != (try pipeline(15).noted(options([])).outcome.decisionDigest))
  }

  @Test func `an event that changes no rate is no decision`() throws {
    let quiet = options([
      (20, .thermal(.fair)), (30, .battery(BatteryState(level: 1))), (40, .memory(.warning)),
      (50, .thermal(.critical)), (60, .memory(.normal)), (70, .thermal(.fair)),
    ])
    let (notes, _) = try pipeline(15).noted(quiet)
    #expect(
      notes.lines("throttle") == [
        "@40000000 throttle - throttle interval=40000000",
        "@70000000 throttle - throttle interval=20000000",
      ])
  }

  @Test func `what comes and goes within an instant changes nothing`() throws {
    let both = options([(40, .thermal(.serious)), (40, .thermal(.nominal))])
    #expect(try pipeline(15).noted(both).notes.lines("throttle").isEmpty)
  }

  @Test func `a throttle without a limit of its own lets all through until it is hot`() throws {
    let (notes, _) = try pipeline(12, fps: 0).noted(
      options([(30, .thermal(.serious)), (90, .thermal(.fair))]))
    #expect(notes.fates == "....tt.tt...")
    #expect(
      notes.lines("throttle") == [
        "@30000000 throttle - throttle interval=40000000",
        "@90000000 throttle - throttle interval=0",
      ])
  }

  @Test func `in lossless nobody looks at the device`() throws {
    let (notes, _) = try pipeline(15).noted(options(heat, mode: .lossless))
    #expect(notes.lines("throttle").isEmpty)
    #expect(notes.fates == ".t.t.t.t.t.t.t.")
  }

  @Test func `an impossible time of an event is refused by name`() {
    for time in [Int64.min, .max] {
      let event = TimedDeviceEvent(
        ordinal: 7, timestamp: Timestamp(nanoseconds: time), event: .thermal(.fair))
      #expect(throws: RuntimeError.eventTimeOutOfRange(ordinal: 7, nanoseconds: time)) {
        try pipeline(3, events: [event]).noted()
      }
    }
  }
}

@Suite struct SwapRunTests {
  /// Finds one thing in each frame, every 10 ms.
  private let pipeline = Pipeline(
    [
      .source(TinyFrames.at(rate: 100, count: 8)),
      .stage("find", AnyStage(Finder(Array(repeating: 1, count: 8))), 4), .sink(),
    ], ["camera → find → sink"])

  private let two = AnyStage(Finder(Array(repeating: 2, count: 8)))

  private func run(_ swaps: StageSwap..., workers: Int = 1) throws -> (Notes, RunOutcome) {
    var options = RunOptions(mode: .redecide, workers: workers)
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
        notes.lines.filter { $0.kind == kind }.map(\.time)
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

/// Says that it gives frames of a format.
private struct Painter: PureStage {
  static let kind = "painter"
  struct Options: StageOptions {
    var format = PixelFormat.grey
  }
  let options: Options

  init(options: Options = Options()) { self.options = options }

  func outputFormat(for input: PixelFormat) -> PixelFormat { options.format }
  func process(_ frame: Frame, _ context: StageContext) -> Frame { frame }
}
