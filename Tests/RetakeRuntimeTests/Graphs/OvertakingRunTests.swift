import RetakeCore
import RetakeGraph
import Testing

/// Frames that do not arrive in the order of their sequence.
@Suite struct OvertakingRunTests {
  /// A frame for each arrival time, by sequence.
  private func arriving(_ milliseconds: [Int64]) -> TinyFrames {
    var frames = TinyFrames.at(rate: 1_000, count: milliseconds.count)
    frames.arrivals = milliseconds.map { $0 * 1_000_000 }
    return frames
  }

  @Test func `the earliest arrival is served first also behind a frame that overtook it`() throws {
    // 2 arrives before 1; the slots pass them on as 0, 1, 2.
    let pipeline = Pipeline(
      [
        .source(arriving([0, 2, 1])),
        .stage("wide", AnyStage(Brightness()), 10).with { $0.concurrency = 3 },
        .stage("narrow", AnyStage(Counter()), 5), .sink(),
      ], ["camera → wide → narrow → sink"])
    let (notes, _) = try pipeline.noted()
    #expect(
      notes.lines("deliver", "start").filter { $0.contains(" narrow ") } == [
        "@10000000 narrow 0:0 deliver", "@10000000 narrow 0:0 start",
        "@12000000 narrow 0:1 deliver", "@12000000 narrow 0:2 deliver",
        "@15000000 narrow 0:2 start", "@20000000 narrow 0:1 start",
      ])
  }

  @Test func `a slot that another frame's timeout sets free is taken at once`() throws {
    // 1 fails at 4 ms and waits for 0, which fails at 6 ms; there was never an output to fall back
    // to.
    let pipeline = Pipeline(
      [
        .source(arriving([2, 0, 3])),
        .stage("late", AnyStage(Brightness()), 5).with {
          $0.concurrency = 2
          $0.timeout = .milliseconds(4)
          $0.fallback = .previous
        }, .sink(),
      ], ["camera → late → sink"])
    let (notes, _) = try pipeline.noted()
    #expect(
      notes.lines("start", "timeout", "late").prefix(6) == [
        "@0 late 0:1 start", "@2000000 late 0:0 start", "@4000000 late 0:1 timeout",
        "@5000000 late 0:1 late", "@6000000 late 0:0 timeout", "@6000000 late 0:2 start",
      ])
  }

  @Test func `a join takes the part of the lowest sequence that waits anywhere`() throws {
    // 0 is in service, 1 waits, 2 is blocked; 4 and then 3 wait for the join.
    let pipeline = Pipeline(
      [
        .source(arriving([0, 1, 2, 4, 3])), PipelineNode(id: "merge", stage: .join(["a", "b"])),
        .stage("slow", AnyStage(Anything()), 10), .sink(),
      ], ["camera → merge.a", "camera → merge.b", "slow → sink"],
      edges: [PipelineEdge("merge → slow", capacity: 1)])
    let (notes, outcome) = try pipeline.noted()
    #expect(
      notes.lines("join").suffix(2) == [
        "@10000000 merge 0:3 join parts=2", "@20000000 merge 0:4 join parts=2",
      ])
    #expect(outcome.headline.delivered == 5)
  }

  @Test func `a latest join keeps no value that is older than the one it read`() throws {
    // The value of 0 arrives after the join has read the value of 1, so its buffer is free again.
    let pipeline = Pipeline(
      [
        .source(arriving([10, 0, 20])).with { $0.pool = "frames" },
        PipelineNode(id: "view", stage: .latest(["now", "newest"])), .sink(),
      ], ["camera → view.now", "camera → view.newest", "view → sink"],
      pools: [PipelinePool(id: "frames", capacity: 2)])
    let (notes, _) = try pipeline.noted()
    #expect(notes.lines("lost").isEmpty)
    #expect(
      notes.lines("latest") == [
        "@0 view 0:1 latest newest=0:1", "@10000000 view 0:0 latest newest=-",
        "@20000000 view 0:2 latest newest=0:2",
      ])
  }

  @Test func `a latest join keeps the values of a frame that was overtaken twice`() throws {
    // 64 arrives after 65 and 66, when more values wait than a join keeps without a reader. Only 0
    // and 64, the first and the 67th arrival, read.
    let places = (0..<64).map { $0 } + [66, 64, 65]
    let pipeline = Pipeline(
      [
        .source(arriving(places.map { Int64($0) * 20 })),
        PipelineNode(id: "thin", stage: MixingNodes.sample(66)),
        .stage("motion", AnyStage(Brightness()), 10),
        PipelineNode(id: "shown", stage: .latest(["frame", "boxes"])), .sink(),
      ], ["camera → thin → shown.frame", "camera → motion → shown.boxes", "shown → sink"])
    let (notes, _) = try pipeline.noted()
    #expect(
      notes.lines("latest") == [
        "@0 shown 0:0 latest boxes=-", "@1320000000 shown 0:64 latest boxes=0:63",
      ])
  }
}

/// Accepts any value.
private struct Anything: PureStage {
  static let kind = "anything"

  init() {}
  init(options: NoOptions) {}

  func process(_ input: Joined, _ context: StageContext) -> Scalars {
    Scalars([.init("parts", Double(input.parts.count))])
  }
}
