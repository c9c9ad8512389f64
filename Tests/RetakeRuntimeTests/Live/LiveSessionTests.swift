import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import Synchronization
import Testing

@testable import RetakeRuntime

@Suite struct LiveSessionTests {
  private static let track = LiveTrack(format: .gray, width: 4, height: 2)

  private func frame(_ milliseconds: Int64) -> Frame {
    Frame(
      timestamp: Timestamp(nanoseconds: milliseconds * 1_000_000), format: .gray, width: 4,
      height: 2, planes: [(0..<8).map { UInt8(truncatingIfNeeded: Int($0) + Int(milliseconds)) }])
  }

  private func chain(_ stages: [PipelineNode], edges: [PipelineEdge] = []) -> Pipeline {
    let ids = ["camera"] + stages.map(\.id) + ["sink"]
    let drawn = zip(ids, ids.dropFirst()).map { PipelineEdge("\($0) → \($1)") }
    return Pipeline(
      name: "live",
      nodes: [PipelineNode(id: "camera", stage: .pushed(track: 0))] + stages + [.sink()],
      edges: drawn.map { edge in edges.first { $0.to == edge.to } ?? edge })
  }

  @Test func `each pushed frame is a result, with what its stages made of it`() async throws {
    let session = try LiveSession(
      chain([.stage("sum", AnyStage(Brightness())), .stage("count", AnyStage(Counter()))]),
      tracks: [Self.track])
    let reading = Task {
      var results: [LiveResult] = []
      for await result in session.results { results.append(result) }
      return results
    }
    for index in 0..<3 { session.push(frame(Int64(index))) }
    let outcome = try await session.stop()
    let results = await reading.value
    #expect(outcome.headline.delivered == 3)
    #expect(outcome.headline.isBalanced)
    #expect(results.map(\.frame.result.id.sequence) == [0, 1, 2])
    #expect(
      results.map { $0.frame.result.outcomes[0].content } == [
        .facts([.scalar(name: "sum", value: 28), .scalar(name: "count", value: 1)]),
        .facts([.scalar(name: "sum", value: 36), .scalar(name: "count", value: 2)]),
        .facts([.scalar(name: "sum", value: 44), .scalar(name: "count", value: 3)]),
      ])
    #expect(session.counts.ledger == outcome.headline)
  }

  @Test func `a frame of a track that the session does not have ends the process with a message`()
    async
  {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let tests = LiveSessionTests()
      let session = try LiveSession(
        tests.chain([.stage("sum", AnyStage(Brightness()))]), tracks: [LiveSessionTests.track])
      session.push(tests.frame(0), track: 3)
    }
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(said.contains("track 3 is not one of them"), "\(said)")
  }

  @Test func `while a stage is at work, a full block edge at the source loses what comes`()
    async throws
  {
    let gate = Gate()
    let session = try LiveSession(
      chain([.stage("wait", gate.stage)]), tracks: [Self.track])
    session.push(frame(0))
    gate.waitUntilEntered()
    // The stage processes a frame, three frames wait, and the other four are lost.
    for index in 1..<8 { session.push(frame(Int64(index))) }
    session.push(.thermal(.fair))
    gate.open()
    let outcome = try await session.stop()
    #expect(outcome.lostBeforeCapture == 4)
    #expect(outcome.headline.captured == 4)
    #expect(outcome.headline.delivered == 4)
  }

  @Test
  func `a buffer stays taken while a sink's user keeps the lease, and comes back when it ends`()
    throws
  {
    let leases = HeldLeases()
    let pipeline = leases.pipeline(
      "held", pool: PipelinePool(id: "frames", capacity: 2, policy: .drop))
    let kept = KeptRun()
    let session = try LiveSession(
      pipeline, tracks: [Self.track], catalog: StageRegistry(), options: LiveOptions(), tap: kept)
    for index in 0..<2 { session.push(frame(Int64(index))) }
    for _ in 0..<2 { leases.delivered.wait() }
    session.push(frame(2))
    session.push(.thermal(.fair))
    leases.held.withLock { $0[0].end() }
    leases.held.withLock { $0[0].end() }
    session.push(frame(3))
    leases.delivered.wait()
    leases.held.withLock { $0 = [] }
    session.push(frame(4))
    leases.delivered.wait()
    leases.held.withLock { $0 = [] }
    let outcome = try session.finish()
    #expect(outcome.headline.delivered == 4)
    #expect(outcome.headline.droppedTotal + outcome.lostBeforeCapture == 1)
    let ends = kept.kept.events.filter { $0.event.kind == .leaseEnded }
    // The leases of the first two frames. The outbox may hold later leases a little longer than the
    // sink.
    #expect(ends.count >= 2)
  }

  @Test func `each pushed frame is captured or lost, also where nobody has time to look at it`()
    throws
  {
    let gate = Gate()
    let pipeline = Pipeline(
      name: "slow",
      nodes: [
        PipelineNode(id: "camera", stage: .pushed(track: 0)),
        PipelineNode(id: "sink", stage: gate.sink),
      ], edges: [PipelineEdge("camera → sink")])
    var options = LiveOptions(workers: 2)
    (options.waitingFramesMax, options.waitingDeliveriesMax) = (2, 1)
    let session = try LiveSession(
      pipeline, tracks: [Self.track], catalog: StageRegistry(), options: options)
    session.push(frame(0))
    gate.waitUntilEntered()
    for index in 1..<200 { session.push(frame(Int64(index))) }
    #expect(session.counts.refused > 0)
    gate.open()
    let outcome = try session.finish()
    #expect(outcome.headline.captured + outcome.lostBeforeCapture == 200)
    #expect(
      outcome.tracks.map { [$0.track, $0.captured + $0.lostBeforeCapture] } == [[0, 200]])
    #expect(outcome.lostBeforeCapture >= session.counts.refused)
  }

  @Test func `frames that several threads push to a track arrive in the order of their IDs`()
    async throws
  {
    let kept = KeptRun()
    let session = try LiveSession(
      chain([]), tracks: [Self.track], catalog: StageRegistry(), options: LiveOptions(), tap: kept)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask { for index in 0..<500 { session.push(frame(Int64(index))) } }
      }
    }
    try await session.stop()
    let sequences = kept.kept.events.compactMap { stamped -> Int? in
      guard case .arrival(let id) = stamped.event else { return nil }
      return id.sequence
    }
    #expect(!sequences.isEmpty && sequences == sequences.sorted())
  }

  @Test func `a body that is over its time fails the frame, and its end is late`() async throws {
    let gate = Gate()
    let kept = KeptRun()
    let clock = LiveTestClock()
    let session = try LiveSession(
      chain([.stage("wait", gate.stage).with { $0.timeout = .milliseconds(5) }]),
      tracks: [Self.track], catalog: StageRegistry(), options: LiveOptions(), clock: clock,
      tap: kept)
    session.push(frame(0))
    gate.waitUntilEntered()
    clock.move(milliseconds: 6)
    // Anything that is handled next comes after the timer.
    session.push(.thermal(.fair))
    gate.open()
    let outcome = try await session.stop()
    #expect(outcome.headline.failed == 1)
    let words = kept.kept.decisions.map {
      $0.split(separator: " ").dropFirst().joined(separator: " ")
    }
    #expect(
      words == [
        "wait 0:0 deliver", "wait 0:0 start", "wait 0:0 timeout", "wait 0:0 fail code=timeout",
        "sink 0:0 outcome fate=fail node=wait reason=timeout", "wait 0:0 late",
      ])
  }

  @Test func `a stage takes the place of another for the frames that come after`() async throws {
    let session = try LiveSession(
      chain([.stage("sum", AnyStage(Brightness())), .stage("tail", AnyStage(Fragile(failing: [])))]
      ),
      tracks: [Self.track])
    session.push(frame(0))
    try await session.swap("tail", to: AnyStage(Fragile(failing: [1])))
    session.push(frame(1))
    await #expect(throws: RuntimeError.swapRefused(node: "tail", code: "swap.inputMismatch")) {
      try await session.swap("tail", to: AnyStage(Brightness()))
    }
    await #expect(throws: RuntimeError.self) {
      try await session.swap("nobody", to: AnyStage(Brightness()))
    }
    let outcome = try await session.stop()
    #expect(outcome.headline.delivered == 1)
    #expect(outcome.headline.failed == 1)
    await #expect(throws: RuntimeError.swapRefused(node: "tail", code: "swap.ended")) {
      try await session.swap("tail", to: AnyStage(Fragile(failing: [])))
    }
  }

  @Test func `a frame that comes to a forEach without detections has an empty result`() async throws
  {
    var pipeline = Pipeline.people([], frames: .on("f"), label: .label(nil))
    pipeline.nodes[0].stage = .pushed(track: 0)
    pipeline.nodes[1].stage = AnyStage(FailingFinder())
    pipeline.nodes[2].stage = .join(["frame", "boxes"], mode: .any)
    let kept = KeptRun()
    let session = try LiveSession(
      pipeline, tracks: [Self.track], catalog: StageRegistry(), options: LiveOptions(), tap: kept)
    session.push(frame(0))
    let outcome = try await session.stop()
    #expect(outcome.headline.delivered == 1)
    #expect(kept.kept.decisions.contains { $0.hasSuffix("join failed=0 items=0") })
    #expect(kept.kept.results.map(\.frame.result.outcomes[0].content) == [.facts([])])
    #expect(kept.kept.results.map(\.isComputed) == [[true]])
  }

  @Test func `a frame without memory fails at its source`() async throws {
    let session = try LiveSession(
      chain([.stage("sum", AnyStage(Brightness()))]), tracks: [Self.track])
    session.push(frame(0))
    session.pushFailed(timestamp: Timestamp(nanoseconds: 1_000_000))
    let outcome = try await session.stop()
    #expect(outcome.headline.delivered == 1)
    #expect(outcome.headline.failed == 1)
    #expect(outcome.failures.map(\.code) == ["allocation.failed"])
  }

  @Test func `an unrecoverable failure halts the run and names its stage`() async throws {
    let session = try LiveSession(
      chain([
        .stage("sum", AnyStage(Brightness())),
        .stage("fatal", AnyStage(Fragile(failing: [1], severity: .unrecoverable))),
      ]), tracks: [Self.track])
    for index in 0..<4 { session.push(frame(Int64(index))) }
    let outcome = try await session.stop()
    #expect(outcome.halt?.node == "fatal")
    #expect(outcome.halt?.message == "a chosen frame")
    var failures: [StageFailure] = []
    for await result in session.results { failures += result.frame.failures }
    #expect(failures == [outcome.halt])
    #expect(outcome.headline.isBalanced)
  }

  @Test func `a stage that hangs holds neither push nor stop up`() async throws {
    let gate = Gate()
    var options = LiveOptions(workers: 1)
    options.drain = .milliseconds(50)
    let session = try LiveSession(
      chain([.stage("hang", gate.stage)]), tracks: [Self.track], options: options)
    session.push(frame(0))
    gate.waitUntilEntered()
    for index in 1..<100 { session.push(frame(Int64(index))) }
    let outcome = try await session.stop()
    #expect(outcome.headline.inFlight == outcome.headline.captured)
    #expect(outcome.headline.captured + outcome.lostBeforeCapture == 100)
    gate.open()
  }

  @Test func `a buffer of a pool is free again when the sink has let go`() async throws {
    var pipeline = chain([.stage("sum", AnyStage(Brightness()))])
    pipeline.pools = [PipelinePool(id: "frames", capacity: 2)]
    pipeline.nodes[0].pool = "frames"
    let gate = Gate()
    pipeline.nodes[2].stage = gate.sink
    let session = try LiveSession(pipeline, tracks: [Self.track])
    session.push(frame(0))
    gate.waitUntilEntered()
    gate.open()
    for index in 1..<4 { session.push(frame(Int64(index))) }
    let outcome = try await session.stop()
    #expect(outcome.headline.isBalanced)
    #expect(outcome.headline.delivered == outcome.headline.captured)
  }

  @Test func `a pipeline that brings its own frames cannot run live`() {
    let own = Pipeline([.source(.on("f")), .sink()], ["camera → sink"])
    #expect(throws: RuntimeError.notLive(node: "camera")) {
      try LiveSession(own, tracks: [Self.track])
    }
  }
}

/// A detector that fails on every frame.
private struct FailingFinder: PureStage {
  static let kind = "failing-finder"
  struct Options: StageOptions {}
  let options: Options

  init() { options = Options() }
  init(options: Options) { self.options = options }

  func process(_ frame: Frame, _ context: StageContext) throws -> Detections {
    throw StageError(code: "finder.failed", message: "every frame")
  }
}
