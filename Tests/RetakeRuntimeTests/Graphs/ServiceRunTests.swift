import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime
import RetakeTimePlane
import Testing

@Suite struct ServiceRunTests {
  /// 30 frames per second into an 18 ms and a 6 ms stage.
  private func pair(executors count: Int) -> Pipeline {
    Pipeline(
      [
        .source(.at(rate: 30, count: 300)),
        .stage("detect", AnyStage(Fragile2(failing: [])), 18).with { $0.executor = "pool" },
        .stage("classify", AnyStage(Brightness()), 6).with { $0.executor = "pool" }, .sink(),
      ], ["camera → detect → classify → sink"],
      executors: [PipelineExecutor(id: "pool", count: count)])
  }

  @Test(arguments: [1, 2])
  func `an 18 ms and a 6 ms stage keep up with 30 frames a second`(executors: Int) throws {
    let (notes, outcome) = try pair(executors: executors).noted()
    #expect(outcome.headline.delivered == 300)
    #expect(outcome.lostBeforeCapture == 0)
    let latencies = notes.lines.filter { $0.node == "sink" && $0.kind == .deliver }.map { line in
      line.time - notes.frames[line.frame?.sequence ?? 0].arrivalNanoseconds
    }
    #expect(Set(latencies) == [24_000_000])
  }

  @Test func `at 60 frames a second one server loses 181 of 600 frames, and two lose 42`() throws {
    func counts(_ servers: Int) throws -> [Int] {
      var pipeline = pair(executors: servers)
      pipeline.nodes[0] = .source(.at(rate: 60, count: 600))
      let (_, outcome) = try pipeline.noted()
      return [outcome.lostBeforeCapture, outcome.headline.delivered]
    }
    // One server does 24 ms of work for each frame of 16.7 ms: 416 in the ten seconds, and then the
    // three that wait.
    #expect(try counts(1) == [181, 419])
    // The 18 ms stage alone begins 555 in the ten seconds, for any number of servers.
    #expect(try counts(2) == [42, 558])
  }

  @Test func `outputs of two slots leave in order`() throws {
    let pipeline = Pipeline(
      [
        .source(.on("ff")),
        PipelineNode(
          id: "concurrency", stage: AnyStage(Brightness()),
          cost: .uniform(.milliseconds(1), .milliseconds(90))
        ).with { $0.concurrency = 2 }, .sink(),
      ], ["camera → concurrency → sink"])
    var seen: Set<[Int]> = []
    for seed in 0..<20 as Range<UInt64> {
      let (notes, _) = try pipeline.noted(RunOptions(mode: .simulate, seed: seed))
      let done = notes.sequences("done")
      seen.insert(done)
      let delivered = notes.lines.filter { $0.node == "sink" && $0.kind == .deliver }
      #expect(delivered.map { $0.frame?.sequence } == [0, 1])
    }
    #expect(seen == [[0, 1], [1, 0]], "both orders of completion occur")
  }

  @Test func `a stage's timeout fails the frame and its body's end comes late`() throws {
    let pipeline = Pipeline(
      [
        .source(.on("f---------f")),
        .stage("slow", AnyStage(Brightness()), 7).with { $0.timeout = .milliseconds(5) }, .sink(),
      ], ["camera → slow → sink"])
    let (notes, outcome) = try pipeline.noted()
    #expect(
      notes.lines.prefix(6).map(\.description) == [
        "@0 slow 0:0 deliver", "@0 slow 0:0 start", "@5000000 slow 0:0 timeout",
        "@5000000 slow 0:0 fail code=timeout",
        "@5000000 sink 0:0 outcome fate=fail node=slow reason=timeout", "@7000000 slow 0:0 late",
      ])
    #expect(outcome.headline.failed == 2)
    #expect(outcome.failures.map(\.code) == ["timeout", "timeout"])
  }

  @Test func `a fallback gives the last value that left in place of a failure`() throws {
    let pipeline = Pipeline(
      [
        .source(.on("ffff")),
        .stage("fragile", AnyStage(Fragile2(failing: [0, 2, 3]))).with { $0.fallback = .previous },
        .stage("sum", AnyStage(Brightness())), .sink(),
      ], ["camera → fragile → sum → sink"])
    let (notes, outcome) = try pipeline.noted()
    #expect(
      notes.lines("fallback", "fail", "outcome") == [
        "@0 fragile 0:0 fail code=fragile.chosen",
        "@0 sink 0:0 outcome fate=fail node=fragile reason=fragile.chosen",
        "@2000000 fragile 0:2 fail code=fragile.chosen", "@2000000 fragile 0:2 fallback from=0:1",
        "@3000000 fragile 0:3 fail code=fragile.chosen", "@3000000 fragile 0:3 fallback from=0:1",
      ])
    #expect(outcome.headline.delivered == 3 && outcome.headline.failed == 1)
    #expect(outcome.failureCount == 3)
    let results = notes.frames.map { $0.result.outcomes[0].content }
    #expect(results[1] == results[2] && results[2] == results[3] && results[0] != results[1])
  }

  @Test func `a fallback that comes late leaves alone what a latest join gave for the frame`()
    throws
  {
    let pipeline = Pipeline(
      [
        .source(.on("f---------f---------f")),
        .stage("fragile", AnyStage(Fragile2(failing: [1])), 3).with { $0.fallback = .previous },
        PipelineNode(id: "view", stage: .latest(["frame", "other"])),
        .stage("slow", AnyStage(JoinedCount()), 6), .sink(),
      ], ["camera → view.frame", "camera → fragile → view.other", "view → slow → sink"])
    let (notes, outcome) = try pipeline.noted()
    #expect(outcome.headline.delivered == 3)
    #expect(
      notes.lines("latest") == [
        "@0 view 0:0 latest other=-", "@10000000 view 0:1 latest other=0:0",
        "@20000000 view 0:2 latest other=0:1",
      ])
  }

  @Test func `a route sends each frame one way and says so to the other`() throws {
    let signature = StageSignature(
      kind: "route", version: 1, role: .route, input: nil, output: nil)
    let route = AnyStage.route(signature, options: .object([:]), ports: ["even", "odd"]) { value in
      ((value as? Frame)?.id.sequence ?? 0) % 2
    }
    let pipeline = Pipeline(
      [
        .source(.on("ffff")), PipelineNode(id: "route", stage: route),
        .stage("left", AnyStage(Brightness()), 1), .stage("right", AnyStage(Brightness()), 1),
        PipelineNode(id: "merge", stage: .join(["left", "right"], mode: .any)), .sink(),
        .sink("odds"),
      ],
      [
        "camera → route", "route.even → left → merge.left", "route.odd → right → merge.right",
        "right → odds", "merge → sink",
      ])
    let (notes, outcome) = try pipeline.noted()
    #expect(outcome.ledgers.first { $0.sink == "sink" }?.ledger.delivered == 4)
    #expect(outcome.ledgers.first { $0.sink == "odds" }?.ledger.delivered == 2)
    #expect(outcome.ledgers.first { $0.sink == "odds" }?.ledger.throttled == 2)
    #expect(
      notes.lines("thin") == [
        "@0 route 0:0 thin port=odd", "@1000000 route 0:1 thin port=even",
        "@2000000 route 0:2 thin port=odd", "@3000000 route 0:3 thin port=even",
      ])
  }

  @Test func `a swapped stateful stage begins without memory`() throws {
    let pipeline = Pipeline(
      [
        .source(.on("ffff")), .stage("sum", AnyStage(Brightness())),
        .stage("count", AnyStage(Counter())), .sink(),
      ], ["camera → sum → count → sink"])
    var options = RunOptions(mode: .everyFrame)
    options.overrides = [
      .swap(
        StageSwap(
          at: .arrival(FrameID(track: 0, sequence: 2)), node: "count", stage: AnyStage(Counter())))
    ]
    let (notes, _) = try pipeline.noted(options)
    let counts = notes.frames.map { frame -> Double? in
      guard case .facts(let facts) = frame.result.outcomes[0].content else { return nil }
      for case .scalar("count", let value) in facts { return value }
      return nil
    }
    #expect(counts == [1, 2, 1, 2])
  }
}

/// Counts the parts that it received.
private struct JoinedCount: PureStage {
  static let kind = "joined-count"
  init() {}
  init(options: NoOptions) {}

  func process(_ input: Joined, _ context: StageContext) -> Scalars {
    Scalars([.init("parts", Double(input.parts.count { $0.value != nil }))])
  }
}
