import RetakeBuffers
import RetakeCore
import RetakeGraph
import Testing

@testable import RetakeRuntime

/// Adaptive pools, with the decisions of the decision core about them.
@Suite struct AdaptivePoolRunTests {
  /// Predicts that the load stays the same.
  private static func sizing(_ change: (inout PoolSizing) -> Void = { _ in }) -> PoolSizing {
    var sizing = PoolSizing()
    sizing.alphaPermille = 1_000
    sizing.off = [.breaker]
    change(&sizing)
    return sizing
  }

  /// A hundred frames per second, and a stage that works on each for 45 ms.
  private func pipeline(
    _ sizing: PoolSizing, capacity: Int = 4, frames: Int = 300,
    policy: PipelinePool.Policy = .block
  ) -> Pipeline {
    Pipeline(
      [
        .source(.at(rate: 100, count: frames)).with { $0.pool = "frames" },
        .stage("slow", AnyStage(Brightness()), 45), .sink(),
      ], ["slow → sink"],
      pools: [
        PipelinePool(id: "frames", capacity: capacity, policy: policy, adaptive: sizing)
      ], edges: [PipelineEdge("camera → slow", capacity: 64)])
  }

  private func overridden(_ events: (milliseconds: Int64, event: DeviceEvent)...) -> RunOptions {
    var options = RunOptions(mode: .simulate)
    options.overrides = events.map {
      .event(atNanoseconds: $0.milliseconds * 1_000_000, $0.event)
    }
    return options
  }

  @Test func `a pool that is always full grows, and its changes are decisions`() throws {
    let (notes, outcome) = try pipeline(Self.sizing()).noted()
    #expect(
      notes.lines("resize") == [
        "@1000000000 camera - resize from=4 pool=frames reason=expand to=5",
        "@2000000000 camera - resize from=5 pool=frames reason=expand to=6",
        "@3000000000 camera - resize from=6 pool=frames reason=expand to=7",
      ])
    let counts = try #require(outcome.pools.first)
    #expect(outcome.pools.count == 1 && counts.pool == "frames")
    #expect(counts.size == 7 && counts.resizes == 3 && counts.peak == 6 && !counts.isBroken)
    #expect(counts.stalls == outcome.lostBeforeCapture && counts.requests == 300)
    #expect(notes.sizes == ["0 4", "1000000000 5", "2000000000 6", "3000000000 7"])
  }

  @Test func `new buffers take their time, those that go are gone at once`() throws {
    let sizing = Self.sizing { $0.resizeNanoseconds = 3_000_000 }
    let options = overridden((2_500, .thermal(.serious)))
    let (notes, outcome) = try pipeline(sizing).noted(options)
    #expect(
      notes.lines("resize").map { $0.split(separator: " ")[0] } == [
        "@1000000000", "@2000000000", "@3000000000",
      ])
    #expect(notes.lines("resize").last?.hasSuffix("from=6 pool=frames reason=thermal to=4") == true)
    #expect(notes.sizes == ["0 4", "1003000000 5", "2003000000 6", "3000000000 4"])
    #expect(outcome.pools.first?.size == 4)
  }

  @Test func `heat and short memory press on the pool`() throws {
    let options = overridden((100, .thermal(.critical)), (1_700, .memory(.warning)))
    let (notes, _) = try pipeline(Self.sizing(), capacity: 8).noted(options)
    #expect(
      notes.lines("resize") == [
        "@100000000 camera - resize from=8 pool=frames reason=thermal to=4",
        "@1700000000 camera - resize from=4 pool=frames reason=memory to=3",
      ])
    let (calm, _) = try pipeline(Self.sizing(), capacity: 8, frames: 40).noted(
      overridden((100, .thermal(.fair)), (200, .memory(.normal)), (300, .battery(.init(level: 3)))))
    #expect(calm.lines("resize").isEmpty)
  }

  @Test func `the breaker makes a large fixed pool`() throws {
    let sizing = Self.sizing { $0.off = [.expand] }
    let (notes, outcome) = try pipeline(sizing, frames: 600).noted()
    #expect(
      notes.lines("breaker", "resize").map {
        $0.split(separator: " ").dropFirst(3).joined(separator: " ")
      }
        == [
          "breaker pool=frames requests=500 stalls=386",
          "resize from=4 pool=frames reason=breaker to=16",
        ])
    #expect(notes.lines("breaker").first?.hasPrefix("@5000000000 camera - ") == true)
    #expect(outcome.pools.first?.isBroken == true)
  }

  @Test func `without an end of pools nothing is decided about them`() throws {
    let (notes, outcome) = try pipeline(Self.sizing()).noted(RunOptions(mode: .everyFrame))
    #expect(notes.lines("resize", "breaker").isEmpty && outcome.pools.isEmpty)
    #expect(notes.sizes.isEmpty && outcome.headline.delivered == 300)
  }

  @Test func `a frame that waits for a buffer is one stall and one request`() throws {
    let pipeline = Pipeline(
      [
        .source(.on("ffff")),
        .stage("copy", AnyStage(Fragile2(failing: [])), 1).with { $0.pool = "copies" },
        .stage("slow", AnyStage(Brightness()), 10), .sink(),
      ], ["copy → slow → sink"],
      pools: [
        PipelinePool(
          id: "copies", capacity: 1,
          adaptive: Self.sizing {
            $0.min = 1
            $0.off = Set(PoolSizing.Policy.allCases)
          })
      ], edges: [PipelineEdge("camera → copy", capacity: 8)])
    let (_, outcome) = try pipeline.noted()
    #expect(outcome.headline.delivered == 4)
    // Each but the first waits for the buffer of the previous one.
    #expect(outcome.pools.first?.stalls == 3 && outcome.pools.first?.requests == 4)
  }

  @Test func `a wait that would never end is told, unless the pool may grow`() throws {
    func pipeline(max: Int) -> Pipeline {
      .waitingForItself(
        PipelinePool(
          id: "frames", capacity: 3,
          adaptive: Self.sizing {
            ($0.min, $0.max, $0.thermalSize) = (3, max, 3)
          }))
    }
    let error = #expect(throws: RuntimeError.self) { try pipeline(max: 3).noted() }
    #expect(error?.code == "runtime.core.stuck")
    let (notes, outcome) = try pipeline(max: 4).noted()
    #expect(outcome.headline.delivered == 2)
    #expect(notes.lines("resize").count == 1)
  }

  @Test func `a pause of half a century makes no events`() throws {
    let pause: Int64 = 50 * 365 * 86_400 * 1_000_000_000
    let reader = TinyFrames(times: [0, 1_000_000, pause, pause + 1_000_000])
    var pipeline = pipeline(Self.sizing(), capacity: 8)
    pipeline.nodes[0] = .source(reader).with { $0.pool = "frames" }
    let (notes, outcome) = try pipeline.noted()
    #expect(outcome.headline.delivered == 4)
    #expect(
      notes.lines("resize").map { $0.split(separator: " ")[0] } == [
        "@1500000000", "@3000000000", "@4500000000", "@6000000000",
      ])
  }

  @Test func `however it is run, the same is decided`() throws {
    let options = overridden((400, .memory(.warning)), (1_900, .thermal(.serious)))
    for predictor in PoolSizing.Predictor.allCases {
      let pipeline = pipeline(
        Self.sizing {
          $0.predictor = predictor
          $0.alphaPermille = 300
          $0.windowNanoseconds = 50_000_000
        }, policy: .drop)
      var expected: RunPrint?
      for workers in [0, 1, 2, 4, 8] {
        for perturbation in [nil, 1] as [UInt64?] {
          var way = options
          (way.workers, way.perturbation) = (workers, perturbation)
          let print = try RunPrint(pipeline, way)
          #expect(print.lines.contains { $0.kind == .resize })
          #expect(expected.flatMap { print.difference(from: $0) } == nil, "\(workers) workers")
          expected = expected ?? print
        }
      }
    }
  }

  @Test func `random graphs with adaptive pools give one digest however they are run`() throws {
    var (runs, resizes) = (0, 0)
    for seed in 3_000..<3_120 as Range<UInt64> {
      let example = ModelCase(seed: seed, shape: .graph)
      let pipeline = example.pipeline { Nodes.source($0) }.adaptive()
      guard !pipeline.pools.isEmpty, (try? pipeline.validate()) != nil else { continue }
      do {
        let one = try RunPrint(pipeline, RunOptions(mode: .simulate, workers: 0, seed: seed))
        let other = try RunPrint(
          pipeline, RunOptions(mode: .simulate, workers: 4, seed: seed, perturbation: 1))
        #expect(other.difference(from: one) == nil, "seed \(seed)")
        runs += 1
        resizes += one.lines.count { $0.kind == .resize }
      } catch let error as RuntimeError where error.code == "runtime.core.stuck" {
        continue
      }
    }
    #expect(runs > 10 && resizes > 0, "\(runs) graphs, \(resizes) changes of size")
  }

  @Test func `a live run's changes of size are made again`() throws {
    var camera = PipelineNode(id: "camera", stage: .pushed(track: 0))
    camera.pool = "frames"
    let pipeline = Pipeline(
      [camera, .stage("a", AnyStage(Brightness())), .sink()], ["camera → a → sink"],
      pools: [PipelinePool(id: "frames", capacity: 8, adaptive: PoolSizing())])
    let frames = ManyTracks(readers: [.at(rate: 1_000, count: 40)])
    let (outcome, told) = try frames.heatedRun(of: pipeline)
    #expect(
      told.decisions.contains { $0.hasSuffix("resize from=8 pool=frames reason=thermal to=4") })
    #expect(outcome.pools.first?.size == 4)
    let again = try Reproduced(pipeline, frames: frames, origin: 0, events: told.events)
    #expect(again.failure == nil && again.decisions == told.decisions)
  }
}

extension Pipeline {
  /// The same pipeline with pools that adapt quickly and never shrink.
  func adaptive() -> Pipeline {
    var pipeline = self
    for index in pipeline.pools.indices {
      var sizing = PoolSizing()
      sizing.min = pipeline.pools[index].capacity
      sizing.max = sizing.min + 4
      sizing.windowNanoseconds = 10_000_000
      sizing.breakerNanoseconds = 500_000_000
      sizing.off = [.thermal, .memory]
      pipeline.pools[index].adaptive = sizing
    }
    return pipeline
  }
}
