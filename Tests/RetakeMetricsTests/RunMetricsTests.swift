import Foundation
import Logging
import Retake
import RetakeTestSupport
import Synchronization
import Testing

@testable import RetakeMetrics

/// The reports of a run to swift-metrics and swift-log, compared with the run's own counts.
@Suite(.onOwnThread) struct RunMetricsTests {
  private static let document = """
    {"v": 1, "name": "busy",
     "nodes": [
      {"id": "camera", "kind": "SOURCE", "pool": "frames"},
      {"id": "motion", "kind": "motion", "cost": {"fixed": "45ms"}},
      {"id": "out", "kind": "results"}],
     "edges": [
      {"from": "camera", "to": "motion", "capacity": 2, "policy": "dropOldest"},
      {"from": "motion", "to": "out"}],
     "pools": [{"id": "frames", "capacity": 8, "adaptive": {}}]}
    """
  private func pipeline(live: Bool) throws -> Pipeline {
    let source = live ? #""session""# : Self.synthetic
    return try PipelineDocument.parse(
      Data(Self.document.replacing(#""SOURCE""#, with: source).utf8),
      catalog: StageRegistry.builtIn)
  }

  private static let synthetic = """
    "synthetic", "options": {"scene": "figures", "width": 64, "height": 48, "frames": 48}
    """

  private func replay(_ pipeline: Pipeline, catalog: StageRegistry = .builtIn) throws -> Replay {
    try Replay(
      pipeline, reader: nil, catalog: catalog,
      request: Replay.Request(caseName: "busy", options: RunOptions(mode: .simulate)))
  }

  @Test func `a replay reports every frame, with the node and the reason of its end`() throws {
    let memory = InMemoryMetrics()
    let replay = try replay(try pipeline(live: false))
    let metrics = RunMetrics(of: replay.pipeline, factory: memory)
    let summary = try replay.run(observers: [metrics])
    #expect(summary.frames.captured == 48 && (summary.frames.dropped["queue"] ?? 0) > 5)
    #expect(memory.sum("retake.frames.captured{pipeline=busy}") == 48)
    let delivered = Int64(summary.frames.delivered)
    #expect(memory.sum("retake.frames.delivered{pipeline=busy,sink=out}") == delivered)
    let dropped =
      "retake.frames.ended{pipeline=busy,sink=out,fate=drop,node=motion,reason=queue}"
    #expect(memory.sum(dropped) == Int64(summary.frames.dropped["queue"] ?? 0))
    let latencies = memory.values("retake.latency{pipeline=busy,sink=out}")
    #expect(latencies.count == summary.frames.delivered)
    #expect(latencies.allSatisfy { (45_000_000...200_000_000).contains($0) })
    let depths = memory.values("retake.queue.depth{pipeline=busy,node=motion}")
    #expect(depths.max() == 2 && depths.last == 0)
    let leases = memory.values("retake.pool.leases{pipeline=busy,pool=frames}")
    let pool = try #require(summary.pools?.first)
    #expect(leases.max() == Int64(pool.peak) && leases.last == 0)
    #expect(memory.values("retake.pool.size{pipeline=busy,pool=frames}").last == Int64(pool.size))
  }

  @Test func `failures are counted by stage and code, and the first of each are logged`() throws {
    let (memory, log) = (InMemoryMetrics(), KeptLog())
    var registry = StageRegistry.builtIn
    registry.register(Flaky.self)
    let document = """
      {"v": 1, "name": "odd",
       "nodes": [
        {"id": "camera", "kind": \(Self.synthetic)}, {"id": "flaky", "kind": "flaky"},
        {"id": "out", "kind": "results"}],
       "edges": [{"from": "camera", "to": "flaky"}, {"from": "flaky", "to": "out"}]}
      """
    let pipeline = try PipelineDocument.parse(Data(document.utf8), catalog: registry)
    let replay = try replay(pipeline, catalog: registry)
    let metrics = RunMetrics(of: replay.pipeline, factory: memory, logger: log.logger)
    let summary = try replay.run(observers: [metrics])
    #expect(summary.failureCount == 24)
    #expect(memory.sum("retake.failures{pipeline=odd,node=flaky,code=flaky.odd}") == 24)
    #expect(log.events.count == RunMeters.loggedMax)
    #expect(
      log.events.first
        == "warning odd frame 1 [code=flaky.odd frame=0:1 node=flaky pipeline=odd]")
  }

  @Test func `the number of metrics has a bound, whatever codes a stage makes up`() {
    let memory = InMemoryMetrics()
    var meters = RunMeters(
      Pipeline(name: "wild", nodes: [], edges: []), factory: memory, logger: nil)
    for number in 0..<2 * RunMeters.metersMax {
      meters.failed(
        StageFailure(
          frame: FrameID(track: 0, sequence: number), node: "a", code: "c\(number)", message: ""))
    }
    #expect(memory.names.count == RunMeters.metersMax)
  }

  @Test func `a recording's pipeline reports what its decisions and its results say`() throws {
    let folder = try TemporaryFolder()
    let memory = InMemoryMetrics()
    let pipeline = try pipeline(live: true)
    let metrics = LiveMetrics(of: pipeline, factory: memory)
    var live = LivePipeline(pipeline, registry: .builtIn)
    live.watchesDevice = false
    var picture = RecordingInput.Image()
    (picture.width, picture.height, picture.frames) = (64, 48, 40)
    var options = RecorderOptions(
      name: "yard", into: folder.url.path, framesMax: 40, probe: .skip)
    (options.pace, options.reserveBytes) = (.unpaced, 0)
    let recorder = try Recorder(
      try RecordingInput.source("synthetic:figures", picture), options: options, pipeline: live,
      watch: metrics.watch)
    let result = try recorder.run()
    let outcome = try #require(try result.pipeline?.get())
    metrics.report(try #require(recorder.liveCounts))
    #expect(
      memory.sum("retake.frames.captured{pipeline=busy}") == Int64(outcome.headline.captured))
    #expect(
      memory.sum("retake.frames.delivered{pipeline=busy,sink=out}")
        == Int64(outcome.headline.delivered))
    let lost = memory.names.filter { $0.hasPrefix("retake.frames.lost{") }
      .reduce(0) { $0 + memory.sum($1) }
    #expect(lost == Int64(outcome.lostBeforeCapture))
    let missed = memory.sum("retake.frames.missed{pipeline=busy,track=0}")
    #expect(missed == Int64(outcome.lostBeforeCapture))
    #expect(!memory.values("retake.queue.depth{pipeline=busy,node=motion}").isEmpty)
    let pool = try #require(outcome.pools.first)
    let requests = memory.values("retake.pool.requests{pipeline=busy,pool=frames}")
    #expect(requests == [Int64(pool.requests)])
    let inFlight = Int64(outcome.headline.inFlight)
    #expect(memory.values("retake.frames.inflight{pipeline=busy}") == [inFlight])
  }
}

/// Fails every other frame.
private struct Flaky: PureStage {
  static let kind = "flaky"

  init() {}
  init(options: NoOptions) {}

  func process(_ input: Frame, _ context: StageContext) throws -> Scalars {
    guard context.frame.sequence.isMultiple(of: 2) else {
      throw StageError(code: "flaky.odd", message: "odd frame \(context.frame.sequence)")
    }
    return Scalars([.init("ok", 1)])
  }
}

/// Stores the log, one line per event.
private final class KeptLog: Sendable {
  private let lines = Mutex<[String]>([])

  var events: [String] { lines.withLock { $0 } }

  var logger: Logger {
    Logger(label: "retake") { _ in Handler(log: self) }
  }

  fileprivate func keep(_ line: String) { lines.withLock { $0.append(line) } }

  private struct Handler: LogHandler {
    let log: KeptLog
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    init(log: KeptLog) { self.log = log }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let facts = (event.metadata ?? [:]).map { "\($0.key)=\($0.value)" }.sorted()
      log.keep("\(event.level) \(event.message) [\(facts.joined(separator: " "))]")
    }
  }
}
