import Foundation
import RetakeCore
import RetakeGraph
import RetakeRuntime
import Testing

@Suite struct LeaseRunTests {
  private func line(_ policy: PipelinePool.Policy, capacity: Int) -> Pipeline {
    Pipeline(
      [
        .source(.on("ffffff")).with { $0.pool = "frames" },
        .stage("slow", AnyStage(Brightness()), 4), .sink(),
      ], ["camera → slow → sink"],
      pools: [PipelinePool(id: "frames", capacity: capacity, policy: policy)])
  }

  @Test func `an empty pool blocks, drops or fails`() throws {
    let (block, blocked) = try line(.block, capacity: 2).noted()
    #expect(
      block.lines("lost") == [
        "@2000000 camera 0:2 lost reason=pool",
        "@3000000 camera 0:3 lost reason=pool", "@5000000 camera 0:5 lost reason=pool",
      ])
    #expect(blocked.lostBeforeCapture == 3 && blocked.headline.delivered == 3)
    let (_, dropped) = try line(.drop, capacity: 2).noted()
    #expect(dropped.headline.dropped == ["pool": 3] && dropped.headline.captured == 6)
    let (failing, failed) = try line(.fail, capacity: 2).noted()
    #expect(failed.headline.failed == 3)
    #expect(failed.failures.map(\.code) == ["pool.empty", "pool.empty", "pool.empty"])
    #expect(failing.lines("fail").first == "@2000000 camera 0:2 fail code=pool.empty")
    let (_, everyFrame) = try line(.block, capacity: 2).noted(RunOptions(mode: .everyFrame))
    #expect(everyFrame.headline.delivered == 6 && everyFrame.waits.isEmpty)
  }

  @Test func `a source waits up to the limit, and the driver keeps what comes meanwhile`() throws {
    var pipeline = line(.block, capacity: 2)
    pipeline.pools[0].wait = .milliseconds(2)
    let (notes, outcome) = try pipeline.noted()
    // Frames 0 and 1 have the buffers, until 4 and 8 ms.
    #expect(
      notes.lines("wait", "waited", "lost") == [
        "@2000000 camera 0:2 wait reason=pool", "@3000000 camera 0:3 lost reason=wait",
        "@4000000 camera 0:2 waited nanoseconds=2000000", "@4000000 camera 0:4 wait reason=pool",
        "@5000000 camera 0:5 lost reason=wait", "@6000000 camera 0:4 lost reason=pool",
      ])
    #expect(outcome.lostBeforeCapture == 3 && outcome.headline.delivered == 3)
    pipeline.pools[0].driverFrames = 1
    pipeline.pools[0].wait = .milliseconds(9)
    let (kept, late) = try pipeline.noted()
    #expect(
      kept.lines("wait", "waited", "lost") == [
        "@2000000 camera 0:2 wait reason=pool", "@3000000 camera 0:3 wait reason=turn",
        "@4000000 camera 0:2 waited nanoseconds=2000000", "@4000000 camera 0:3 wait reason=pool",
        "@4000000 camera 0:4 wait reason=turn", "@5000000 camera 0:5 lost reason=wait",
        "@8000000 camera 0:3 waited nanoseconds=5000000", "@8000000 camera 0:4 wait reason=pool",
        "@12000000 camera 0:4 waited nanoseconds=8000000",
      ])
    #expect(late.lostBeforeCapture == 1 && late.headline.delivered == 5)
    let waits = try #require(late.waits.first)
    #expect(waits.source == "camera" && waits.waited == 3 && waits.lost == 1)
    #expect(waits.nanoseconds == 15_000_000 && waits.nanosecondsMax == 8_000_000)
    #expect(outcome.waits.map(\.lost) == [3])
    let (_, everyFrame) = try pipeline.noted(RunOptions(mode: .everyFrame))
    #expect(everyFrame.headline.delivered == 6)
  }

  /// Two cameras of tracks 0 and 1 with one pool.
  private func cameras(
    _ ids: [String], _ frames: [TinyFrames], costs: [Int64], pool: PipelinePool
  ) -> Pipeline {
    var nodes: [PipelineNode] = []
    for (index, id) in ids.enumerated() {
      var reader = frames[index]
      reader.track = index
      nodes.append(.source(reader, id: id).with { $0.pool = pool.id })
      nodes.append(.stage("slow\(index)", AnyStage(Brightness()), costs[index]))
      nodes.append(.sink("sink\(index)"))
    }
    let lines = ids.indices.map { "\(ids[$0]) → slow\($0) → sink\($0)" }
    return Pipeline(
      nodes, [], pools: [pool],
      edges: lines.flatMap { line in
        let parts = line.components(separatedBy: " → ")
        return zip(parts, parts.dropFirst()).map { PipelineEdge("\($0) → \($1)", capacity: 8) }
      })
  }

  @Test func `of two sources that wait for a pool, the one that began to wait first gets a buffer`()
    throws
  {
    let pool = PipelinePool(id: "frames", capacity: 1, wait: .seconds(1))
    // 'a' has the buffer until 4 ms. At 4 ms, 'b' has waited, and a frame arrives at 'a'.
    let late = try cameras(["a", "b"], [.on("f---f"), .on("-f")], costs: [4, 4], pool: pool)
      .noted().notes
    #expect(
      late.lines("wait", "waited") == [
        "@1000000 b 1:0 wait reason=pool", "@4000000 a 0:1 wait reason=pool",
        "@4000000 b 1:0 waited nanoseconds=3000000", "@8000000 a 0:1 waited nanoseconds=4000000",
      ])
    let both = try cameras(["a", "b"], [.on("f--f"), .on("-f")], costs: [4, 4], pool: pool)
      .noted().notes
    #expect(both.lines("waited").first == "@4000000 b 1:0 waited nanoseconds=3000000")
    // Requests that began at one instant are served in the order of the ids.
    let even = try cameras(["z", "b"], [.on("f--f"), .on("---f")], costs: [4, 4], pool: pool)
      .noted().notes
    #expect(
      even.lines("waited") == [
        "@4000000 b 1:0 waited nanoseconds=1000000", "@8000000 z 0:1 waited nanoseconds=5000000",
      ])
  }

  @Test(arguments: [["a", "b"], ["z", "b"]])
  func `two cameras share a pool whatever their names are`(ids: [String]) throws {
    let pool = PipelinePool(
      id: "frames", capacity: 4, wait: .milliseconds(40), driverFrames: 1)
    let frames = [TinyFrames.at(rate: 30, count: 300), .at(rate: 30, count: 300)]
    let (notes, outcome) = try cameras(ids, frames, costs: [150, 90], pool: pool).noted()
    for entry in outcome.ledgers {
      #expect(entry.ledger.delivered > 25, "\(entry.sink): \(entry.ledger)")
    }
    #expect(outcome.ledgers.count == 2)
    var since: [String: Int64] = [:]
    var turns = 0
    for line in notes.lines {
      switch (line.kind, line["reason"]) {
      case (.wait, "pool"): since[line.node] = line.time
      case (.lost, "pool"): since[line.node] = nil
      case (.waited, _):
        let own = since.removeValue(forKey: line.node)
        guard let other = since.values.first else { continue }
        turns += 1
        #expect(try #require(own) <= other, "\(line)")
      default: break
      }
    }
    #expect(turns > 10)
    for workers in [0, 4] {
      let again = try cameras(ids, frames, costs: [150, 90], pool: pool)
        .noted(RunOptions(mode: .simulate, workers: workers)).outcome
      #expect(again.decisionDigest == outcome.decisionDigest)
    }
    // The headline counts one of the cameras, and so do the frames that it lost.
    let primary = ids[1]
    #expect(outcome.headlineLost == outcome.lostBySource[primary])
    #expect(outcome.headline.captured + outcome.headlineLost == 300)
    #expect(outcome.lostBySource.values.reduce(0, +) == outcome.lostBeforeCapture)
  }

  @Test func `a frame that waits when a run halts is lost, without a line`() throws {
    let pipeline = Pipeline(
      [
        .source(.on("ffffff")).with { $0.pool = "frames" },
        .stage("slow", AnyStage(Brightness()), 4),
        .stage("fatal", AnyStage(Fragile(failing: [0], severity: .unrecoverable))), .sink(),
      ], ["camera → slow → fatal → sink"],
      pools: [PipelinePool(id: "frames", capacity: 2, wait: .seconds(1))])
    let (notes, outcome) = try pipeline.noted()
    #expect(notes.lines("lost") == ["@3000000 camera 0:3 lost reason=wait"])
    #expect(outcome.halt != nil && outcome.lostBeforeCapture == 2)
  }

  @Test func `a sink's hold keeps the buffer`() throws {
    var pipeline = line(.block, capacity: 1)
    pipeline.nodes[1] = .stage("slow", Fragile2(failing: []).keeping, 1)
    pipeline.nodes[2].hold = .milliseconds(2)
    let (notes, _) = try pipeline.noted()
    // 0 is in use until 3 ms, 3 until 6 ms.
    #expect(
      notes.lines("lost").map { $0.split(separator: " ")[2] } == ["0:1", "0:2", "0:4", "0:5"])
  }

  @Test(arguments: PipelinePool.Policy.allCases, [1, 2])
  func `the ledgers balance whoever holds a buffer and whoever gets none`(
    policy: PipelinePool.Policy, capacity: Int
  ) throws {
    let pipeline = Pipeline(
      [
        .source(.at(rate: 200, count: 60)).with { $0.pool = "frames" },
        .stage("keep", Fragile2(failing: []).keeping, 3),
        .stage("copy", AnyStage(Fragile2(failing: [8, 21])), 9).with { $0.pool = "copies" },
        .sink("view").with { $0.hold = .milliseconds(11) },
        .sink("store").with { $0.hold = .milliseconds(17) },
      ], ["camera → keep → view", "copy → store"],
      pools: [
        PipelinePool(id: "frames", capacity: capacity, policy: policy),
        PipelinePool(id: "copies", capacity: capacity, policy: policy),
      ], edges: [PipelineEdge("camera → copy", capacity: 1, policy: .dropOldest)])
    for workers in [0, 1, 4] {
      let (notes, outcome) = try pipeline.noted(RunOptions(mode: .simulate, workers: workers))
      #expect(outcome.ledgers.map(\.sink) == ["store", "view"])
      for entry in outcome.ledgers {
        var counted = FrameLedger()
        for frame in notes.frames {
          counted.captured += 1
          for ended in frame.result.outcomes where ended.sink == entry.sink {
            if case .ended(let fate, _) = ended.content {
              counted.count(fate)
            } else {
              counted.count(.delivered)
            }
          }
        }
        #expect(entry.ledger == counted && counted.isBalanced, "\(entry.sink)")
        #expect(counted.captured + outcome.lostBeforeCapture == 60)
        let lacking =
          switch policy {
          case .block: outcome.lostBeforeCapture
          case .drop: counted.dropped["pool"] ?? 0
          case .fail: counted.failed - 2
          }
        #expect(lacking > 5, "the buffers are too few for all frames")
      }
    }
  }

  @Test func `buffers that wait for each other are named`() throws {
    let pipeline = Pipeline.waitingForItself(PipelinePool(id: "frames", capacity: 3))
    let notes = Notes()
    let error = #expect(throws: RuntimeError.self) {
      try PreparedRun(pipeline, catalog: StageRegistry()).run(
        RunOptions(mode: .simulate), observer: notes)
    }
    #expect(error?.code == "runtime.core.stuck")
    #expect(error?.message.contains("'b' waits with frame 0:0 for a buffer") ?? false)
    #expect(error?.message.contains("'both', which waits for partners") ?? false)
    #expect(notes.lines.last?.kind == .stuck)
  }
}

extension Fragile2 {
  /// The same stage, with its output in the memory of its input.
  var keeping: AnyStage {
    var signature = StageSignature(
      kind: "keeping", version: 1, role: .pure, input: .frame, output: .frame)
    signature.keepsInput = true
    return AnyStage(
      signature: signature, options: .object([:]), body: .pure { input, _ in .success(input) })
  }
}
