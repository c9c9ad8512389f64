import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTestCatalog
import Testing

/// The typed API builds pipelines whose documents match.
@Suite struct DSLTests {
  private let frames = Pipeline.named("words").source(.test("session"))

  /// A pipeline's document parses to the same document and the same digest.
  private func roundTrip(
    _ pipeline: Pipeline, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> String {
    try pipeline.validate()
    let text = try PipelineDocument.json(of: pipeline).canonicalText
    let read = try Documents.parse(text)
    #expect(
      try PipelineDocument.json(of: read).canonicalText == text, sourceLocation: sourceLocation)
    #expect(read.digest == pipeline.digest, sourceLocation: sourceLocation)
    return text
  }

  @Test func `branches of a prefix share it, and each has its sink`() throws {
    let gray = frames.stage(Gray()).cost(.fixed(.milliseconds(2)))
    let pipeline = Pipeline.combining(
      gray.stage(Boxes(options: .init())).sink(.test("results")),
      gray.stage(Tiles()).sink(.test("results"), id: "map"),
      gray.sink(.test("results"), id: "plain"))
    #expect(
      pipeline.nodes.map(\.id) == ["camera", "grey", "boxes", "results", "tiles", "map", "plain"])
    #expect(pipeline.edges.count { $0.from == "grey" } == 3)
    #expect(pipeline.name == "words")
    _ = try roundTrip(pipeline)
  }

  @Test func `the first pipeline's sink is the headline until another is named`() throws {
    let one = frames.stage(Gray()).sink(.test("results"), id: "z")
    let other = frames.stage(Tiles()).sink(.test("results"), id: "a")
    let both = Pipeline.combining([one, other])
    #expect(both.primarySink == "z")
    #expect(both.primary("a").primarySink == "a")
    #expect(both.primary("a").nodes.count(where: \.isPrimary) == 1)
    _ = try roundTrip(both.primary("a"))
  }

  @Test func `several sources, and the newest value of another`() throws {
    let rear = Pipeline.named("rear").source(.test("session"), id: "rear")
    let level = frames.stage(Boxes(options: .init())).stage(Level())
    let shown = rear.latest(with: level, frames, ports: ["frame", "level", "front"])
    let text = try roundTrip(shown.sink(.test("results"), hold: .milliseconds(16)))
    #expect(text.contains(#""options":{"ports":["frame","level","front"]}"#))
    #expect(text.contains(#"{"from":"rear","to":"latest.frame"}"#))
    #expect(text.contains(#"{"from":"brightness","to":"latest.level"}"#))
    #expect(text.contains(#""hold":"16ms""#))
  }

  @Test func `an ensemble's ports are named by its branches, and it continues without the late`()
    throws
  {
    let models = ["small", "large", "huge"].map { frames.stage(Tiles(), id: $0) }
    let listed = Pipeline.joining(models, mode: .any, timeout: .milliseconds(50), id: "ensemble")
    let written = Pipeline.joining(
      models[0], models[1], models[2], mode: .any, timeout: .milliseconds(50), id: "ensemble")
    let text = try roundTrip(listed.stage(Fusion()).sink(.test("results")))
    #expect(try roundTrip(written.stage(Fusion()).sink(.test("results"))) == text)
    #expect(
      text.contains(
        #"{"id":"ensemble","kind":"join","options":{"mode":"any","ports":["small","large","huge"]},"#
          + #""timeout":"50ms"}"#))
  }

  @Test func `queues in front of a join are changed one at a time, or all`() throws {
    let joined = Pipeline.joining(frames.stage(Gray()), frames, ports: ["grey", "plain"])
    let one = joined.queue(capacity: 8, port: "plain").stage(Fusion()).sink(.test("results"))
    #expect(one.edges.map(\.capacity) == [3, 3, 8, 3, 3])
    let all = joined.queue(capacity: 2, policy: .dropOldest).stage(Fusion()).sink(.test("results"))
    #expect(all.edges.filter { $0.to == "join" }.map(\.policy) == [.dropOldest, .dropOldest])
    #expect(try roundTrip(one) != roundTrip(all))
  }

  @Test func `a forEach that classifies gives detections, any other gives items`() throws {
    let found = frames.stage(Gray()).stage(Boxes(options: .init()))
    let named: PipelineChain<Detections> = frames.forEach(found) { region in
      region.stage(RegionPixels()).stage(Labels()).cost(.fixed(.milliseconds(3))).concurrency(2)
    }
    let text = try roundTrip(named.stage(Level()).sink(.test("results")))
    #expect(text.contains(#""output":"labels""#))
    #expect(text.contains(#"{"from":"grey","to":"boxes"}"#))
    #expect(text.contains(#"{"from":"camera","to":"forEach-input.frame"}"#))
    #expect(text.contains(#"{"from":"boxes","to":"forEach-input.detections"}"#))
    #expect(text.contains(#"{"from":"forEach-input","to":"forEach"}"#))
    #expect(
      text.contains(#"{"concurrency":2,"cost":{"fixed":"3ms"},"id":"labels","kind":"labels"}"#))

    let pixels: PipelineChain<Items> = frames.forEach(found, id: "each") { region in
      region.stage(RegionPixels(), id: "first").stage(View()).queue(capacity: 7)
        .on(executor: "vision").executor("vision", count: 2)
    }
    let items = pixels.sink(.test("results"))
    #expect(items.executors == [PipelineExecutor(id: "vision", count: 2)])
    #expect(try roundTrip(items).contains(#"{"capacity":7,"from":"first","to":"view"}"#))
  }

  @Test func `a forEach behind a detector reads the frames that the detector was given`() throws {
    let gray = frames.stage(Gray())
    let found = gray.stage(Boxes(options: .init()))
    let named = found.forEach { $0.stage(RegionPixels()).stage(Labels()) }
    let written: PipelineChain<Detections> = gray.forEach(found) {
      $0.stage(RegionPixels()).stage(Labels())
    }
    let text = try roundTrip(named.sink(.test("results")))
    #expect(try text == roundTrip(written.sink(.test("results"))))
    #expect(text.contains(#"{"from":"grey","to":"forEach-input.frame"}"#))
    // A node that passes detections on has no frames; the frames come from upstream.
    let throttled = found.passing(.test("throttle")).forEach {
      $0.stage(RegionPixels()).stage(Labels())
    }
    let thin = try roundTrip(throttled.sink(.test("results")))
    #expect(thin.contains(#"{"from":"grey","to":"forEach-input.frame"}"#))
    #expect(thin.contains(#"{"from":"throttle","to":"forEach-input.detections"}"#))
  }

  @Test func `an error of a body is the error of its forEach`() {
    struct NoModel: Error {}
    #expect(throws: NoModel.self) {
      try frames.stage(Boxes(options: .init())).forEach { _ in throw NoModel() }
    }
  }

  @Test func `a forEach can follow a join that was made by hand`() throws {
    let found = frames.stage(Boxes(options: .init()))
    let joined = Pipeline.joining(
      found, frames, ports: ["found", "frame"], mode: .any, timeout: .seconds(1))
    let named: PipelineChain<Detections> = joined.forEach {
      $0.stage(RegionPixels()).stage(Labels())
    }
    let both: PipelineChain<Items> = joined.forEach(id: "pixels") { $0.stage(RegionPixels()) }
    let text = try roundTrip(
      Pipeline.combining(
        named.sink(.test("results"), id: "named"), both.sink(.test("results"), id: "pixels-out")))
    #expect(text.contains(#""id":"forEach","kind":"forEach""#))
    #expect(text.contains(#""id":"pixels","kind":"forEach""#))
  }

  @Test func `a route goes on from each of its ports`() throws {
    let sizes = frames.stage(Boxes(options: .init())).routing(.test("split"), id: "size")
    #expect(sizes.ports == ["left", "right"])
    let met = Pipeline.joining(
      sizes.port("left"), sizes.port("right").passing(.test("sample")), mode: .any)
    let text = try roundTrip(met.sink(.test("results")))
    #expect(text.contains(#"{"from":"size.left","to":"join.left"}"#))
    #expect(text.contains(#"{"from":"size.right","to":"sample"}"#))
    #expect(text.contains(#"{"from":"sample","to":"join.sample"}"#))
  }

  @Test func `a route that a closure makes runs, and has no document`() throws {
    let sizes = frames.stage(Boxes(options: .init())).route("size", to: ["few", "many"]) {
      $0.items.isEmpty ? "few" : "many"
    }
    let pipeline = Pipeline.combining(
      sizes.port("few").sink(.test("results"), id: "few"),
      sizes.port("many").sink(.test("results"), id: "many"))
    try pipeline.validate()
    guard case .route(let choose)? = pipeline.node("size")?.stage.body else {
      Issue.record("'size' is no route")
      return
    }
    #expect(choose(Detections([], classNames: [])) == 0)
    let error = #expect(throws: PipelineError.self) { try PipelineDocument.json(of: pipeline) }
    #expect(error?.reason == .notExportable("size", .route))
  }

  @Test func `the options of an adaptive pool stand in the document where they differ`() throws {
    let plain = try roundTrip(
      frames.pool("p").pool("p", capacity: 8, adaptive: PoolSizing()).sink(.test("results")))
    #expect(plain.contains(#"{"adaptive":{},"capacity":8,"id":"p"}"#))
    var sizing = PoolSizing()
    (sizing.min, sizing.max, sizing.predictor, sizing.alphaPermille) = (2, 20, .ar1, 125)
    (sizing.expandAbove, sizing.expandAfter, sizing.shrinkBelow) = (80, 1, 30)
    (sizing.shrinkAfter, sizing.thermalSize, sizing.memorySize) = (5, 6, 2)
    (sizing.breakerSize, sizing.breakerAbove) = (32, 20)
    sizing.windowNanoseconds = 250_000_000
    sizing.thermalHoldNanoseconds = 1_500_000_000
    sizing.breakerNanoseconds = 2_000_000_000
    sizing.resizeNanoseconds = 3_000_000
    sizing.off = [.recreate, .hysteresis]
    let text = try roundTrip(
      frames.pool("p").pool("p", capacity: 8, adaptive: sizing).sink(.test("results")))
    #expect(
      text.contains(
        #"{"alpha":0.125,"breakerAbove":20,"breakerAfter":"2s","breakerSize":32,"expandAbove":80,"#
          + #""expandAfter":1,"max":20,"memorySize":2,"min":2,"off":["hysteresis","recreate"],"#
          + #""predictor":"ar1","resizeTime":"3ms","shrinkAfter":5,"shrinkBelow":30,"#
          + #""thermalHold":"1500ms","thermalSize":6,"window":"250ms"}"#), "\(text)")
  }

  @Test func `every word about service stands in the document`() throws {
    let pipeline = frames.pool("frames").pool("frames", capacity: 8, policy: .drop)
      .stage(Gray()).concurrency(2).cost(.quantiles(p50: .milliseconds(2), p99: .milliseconds(9)))
      .timeout(.milliseconds(50)).fallback(.previous).pool("greys").pool("greys", capacity: 4)
      .stage(Boxes(options: .init())).pinned().queue(capacity: 8)
      .batch(max: 8, wait: .milliseconds(5))
      .cost(.fixed(.milliseconds(8)), perFrame: .milliseconds(1))
      .stage(Level()).on(executor: "small").executor("small")
      .sink(.test("results"), precision: ["scalar": 0.01], hold: .milliseconds(5))
    let text = try roundTrip(pipeline)
    for part in [
      #""pool":"frames"}"#, #"{"capacity":8,"id":"frames","policy":"drop"}"#,
      #"{"capacity":4,"id":"greys"}"#, #""concurrency":2"#, #""timeout":"50ms""#,
      #""fallback":"previous""#, #""pinned":true"#, #""executor":"small""#, #""hold":"5ms""#,
      #"{"count":1,"id":"small"}"#, #""cost":{"p50":"2ms","p99":"9ms"}"#,
      #""precision":{"scalar":0.01}"#, #""batch":{"max":8,"wait":"5ms"}"#,
      #""cost":{"fixed":"8ms","perFrame":"1ms"}"#,
    ] { #expect(text.contains(part), "\(part)") }
  }

  @Test func `a document with every feature reads back as itself`() throws {
    _ = try roundTrip(try Documents.parse(Documents.yard))
    _ = try roundTrip(try Documents.parse(Documents.motion))
  }

  @Test func `the digest hears of every key but names and costs`() throws {
    let digest = try Documents.parse(Documents.yard).digest
    func changed(_ old: String, _ new: String) throws -> Digest128 {
      #expect(Documents.yard.contains(old))
      return try Documents.parse(Documents.yard.replacing(old, with: new)).digest
    }
    #expect(try changed(#"{"fixed": "1ms"}"#, #"{"fixed": "9ms"}"#) == digest)
    #expect(try changed(#""v": 1, "name": "yard""#, #""v": 1"#) == digest)
    let meant = [
      (#""concurrency": 2}"#, #""concurrency": 3}"#),
      (#""concurrency": 2,"#, #""concurrency": 3,"#),
      (#""timeout": "50ms""#, #""timeout": "51ms""#),
      (#""timeout": "20ms""#, #""timeout": "21ms""#), (#""mode": "all""#, #""mode": "any""#),
      (#", "pinned": true"#, ""), (#""hold": "16ms""#, #""hold": "17ms""#),
      (#""timeout": "50ms",\#n   "fallback": "previous""#, #""timeout": "50ms""#),
      (#""capacity": 5}"#, #""capacity": 6}"#),
      (#""id": "frames", "capacity": 4"#, #""id": "frames", "capacity": 5"#),
      (#""policy": "drop"}"#, #""policy": "block"}"#), (#""every": 3"#, #""every": 4"#),
      (#", "pool": "frames""#, ""),
    ]
    let digests = try meant.map { try changed($0.0, $0.1) }
    #expect(Set(digests + [digest]).count == meant.count + 1)
  }
}
