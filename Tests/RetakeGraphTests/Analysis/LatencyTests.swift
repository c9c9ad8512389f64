import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTestCatalog
import Testing

/// Sums of costs along paths, and how joins, timeouts and items affect them.
@Suite struct LatencyTests {
  private let frames = Pipeline.named("p").source(.test("session"))
  private let results = AnyStage.test("results")

  private func ms(_ count: Int) -> Cost { .fixed(.milliseconds(count)) }

  private func gray(_ id: String, _ milliseconds: Int) -> PipelineChain<Frame> {
    frames.stage(Gray(), id: id).cost(ms(milliseconds))
  }

  /// `"camera → grey → results 12ms 15ms"`: the slowest path to the first sink.
  private func slowest(
    _ pipeline: Pipeline, _ options: AnalysisOptions = AnalysisOptions()
  ) throws -> String {
    let path = try #require(try pipeline.analyzed(options).arrivals.first).path
    return "\(path.nodes.joined(separator: " → ")) \(path.typical.unitText) \(path.worst.unitText)"
  }

  @Test func `costs add up along a line`() throws {
    let pipeline = gray("grey", 8).stage(Boxes(options: .init())).cost(ms(45))
      .stage(Level()).sink(results)
    #expect(
      try slowest(pipeline) == "camera → grey → boxes → brightness → results 53ms 53ms")
    #expect(try pipeline.analyzed().notes == ["without a cost, so 0 in simulate mode: brightness"])
  }

  @Test func `uniform costs have a middle and an upper end, quantiles p50 and p99`() throws {
    let pipeline = frames.stage(Gray()).cost(.uniform(.milliseconds(4), .milliseconds(10)))
      .stage(View()).cost(.quantiles(p50: .milliseconds(20), p99: .milliseconds(50))).sink(results)
    #expect(try slowest(pipeline) == "camera → grey → view → results 27ms 60ms")
    // The mean of a log-normal distribution is above its median: here by e to half of 0.3939
    // squared.
    let load = try #require(try pipeline.analyzed().loads.last)
    #expect(load.timePerFrame.nanoseconds / 10_000 == 2161)
  }

  @Test func `every path is listed, the slowest first`() throws {
    let joined = Pipeline.joining(gray("fast", 3), gray("slow", 40), frames).stage(Fusion())
      .cost(ms(1))
    let pipeline = Pipeline.combining(
      joined.sink(results, id: "a"), gray("fast", 3).sink(results, id: "b"))
    let analysis = try pipeline.analyzed()
    #expect(
      analysis.paths.map { "\($0.nodes.joined(separator: " ")) \($0.worst.unitText)" } == [
        "camera slow join fusion a 41ms", "camera fast join fusion a 4ms",
        "camera join fusion a 1ms", "camera fast b 3ms",
      ])
    #expect(analysis.arrivals.map(\.pathCount) == [3, 1])
    #expect(analysis.arrivals.map(\.path.worst) == [.milliseconds(41), .milliseconds(3)])
  }

  @Test func `a join of any ends its waiting at the timeout, one of all does not`() throws {
    func joined(_ mode: JoinMode) -> Pipeline {
      Pipeline.joining(
        gray("fast", 3), gray("slow", 40), mode: mode, timeout: .milliseconds(10)
      ).stage(Fusion()).cost(ms(1)).sink(results)
    }
    #expect(try slowest(joined(.any)) == "camera → slow → join → fusion → results 14ms 14ms")
    #expect(try slowest(joined(.all)) == "camera → slow → join → fusion → results 41ms 41ms")
  }

  @Test func `a latest join waits for nobody`() throws {
    let pipeline = gray("base", 2).latest(with: gray("slow", 200)).sink(results)
    #expect(try slowest(pipeline) == "camera → base → latest → results 2ms 2ms")
    #expect(try pipeline.analyzed().arrivals.first?.pathCount == 1)
  }

  @Test func `a timeout ends what a stage takes of a frame's time`() throws {
    let pipeline = frames.stage(Gray()).cost(.uniform(.milliseconds(10), .milliseconds(80)))
      .timeout(.milliseconds(50)).sink(results)
    #expect(try slowest(pipeline) == "camera → grey → results 45ms 50ms")
  }

  @Test func `items go through a body one behind the other, on as many servers as it has`() throws {
    func named(concurrency: Int) -> Pipeline {
      let named: PipelineChain<Detections> = frames.forEach(
        frames.stage(Boxes(options: .init())).cost(ms(5)), id: "each"
      ) { region in
        region.stage(RegionPixels()).cost(ms(1)).stage(Labels()).cost(ms(4)).concurrency(
          concurrency)
      }
      return named.sink(results)
    }
    let path = "camera → boxes → each-input → each → each/crop → each/labels → results"
    #expect(try slowest(named(concurrency: 1)) == "\(path) 10ms 10ms")
    let six = AnalysisOptions(items: 6)
    #expect(try slowest(named(concurrency: 1), six) == "\(path) 30ms 30ms")
    #expect(try slowest(named(concurrency: 3), six) == "\(path) 15ms 15ms")
    #expect(try slowest(named(concurrency: 4), six) == "\(path) 15ms 15ms")
    #expect(
      try named(concurrency: 1).analyzed(six).loads.map {
        "\($0.executor) \($0.timePerFrame.unitText)"
      }
        == ["boxes 5ms", "each/crop 6ms", "each/labels 24ms"])
  }

  @Test func `items that share a server take turns`() throws {
    let named: PipelineChain<Detections> = frames.forEach(frames.stage(Boxes(options: .init()))) {
      $0.stage(RegionPixels()).cost(ms(1)).on(executor: "one").stage(Labels()).cost(ms(4))
        .on(executor: "one").executor("one")
    }
    let arrival = try named.sink(results).analyzed(AnalysisOptions(items: 6)).arrivals.first
    #expect(arrival?.path.worst == .milliseconds(30))
  }

  @Test func `of very many paths only the slowest is listed`() throws {
    var chain = Pipeline.joining(frames.stage(Gray(), id: "a"), frames.stage(Gray(), id: "b"))
      .stage(Fusion(), id: "f0")
    for step in 1...7 {
      chain = Pipeline.joining(
        chain.stage(Halve(), id: "l\(step)").cost(ms(step)), chain.stage(Halve(), id: "r\(step)")
      ).stage(Fusion(), id: "f\(step)")
    }
    let analysis = try chain.sink(results).analyzed()
    #expect(analysis.arrivals.map(\.pathCount) == [256])
    #expect(analysis.paths.map(\.worst) == [.milliseconds(28)])
  }

  @Test func `the rate that is kept up with, and who limits it`() throws {
    func sustained(_ pipeline: Pipeline) throws -> String {
      let analysis = try pipeline.analyzed()
      let rates = analysis.sustained.sorted { $0.key < $1.key }
        .map { "\($0.key) \(($0.value * 1_000).rounded() / 1_000)" }
      return (rates + [analysis.bottleneck ?? "nobody"]).joined(separator: " ")
    }
    let slow = gray("grey", 40)
    #expect(try sustained(slow.sink(results)) == "camera 25.0 grey")
    #expect(try sustained(slow.concurrency(2).sink(results)) == "camera 50.0 grey")
    #expect(
      try sustained(slow.on(executor: "e").executor("e", count: 2).sink(results))
        == "camera 25.0 grey")
    #expect(
      try sustained(
        slow.on(executor: "e").stage(View()).cost(ms(10)).on(executor: "e").executor("e")
          .sink(results)) == "camera 20.0 e")
    #expect(
      try sustained(frames.passing(.test("sample")).stage(Gray()).cost(ms(40)).sink(results))
        == "camera 50.0 grey")
    #expect(try sustained(slow.queue(capacity: 1, policy: .replace).sink(results)) == "nobody")
    #expect(try sustained(frames.sink(results)) == "nobody")
    let rear = Pipeline.named("rear").source(.test("session"), id: "rear")
    #expect(
      try sustained(rear.latest(with: slow, frames).sink(results)) == "camera 25.0 rear 25.0 grey")
  }
}

/// One part of a join.
private struct Halve: PureStage {
  static let kind = "halve"

  init() {}
  init(options: NoOptions) {}

  func process(_ values: Scalars, _ context: StageContext) -> Frame { preconditionFailure() }
}
