import RetakeCore
package import RetakeGraph
import RetakeRuntime
import RetakeTimePlane

/// One pool under one load, in virtual time. The trial runs on the engine that replays sessions,
/// with a camera that leases from the pool and a stage that has the costs of the load.
package struct PoolTrial: Sendable {
  static let stage = "ocr"
  private static let pool = "frames"

  package var load: PoolLoad
  package var contender: PoolContender

  package init(_ load: PoolLoad, _ contender: PoolContender) {
    self.load = load
    self.contender = contender
  }

  /// - Throws: The error of a run. A valid load causes no error.
  package func run() throws -> PoolFigures {
    // No watchdog: the stage's body returns at once, and only its virtual cost is long.
    var options = RunOptions(mode: .simulate, workers: 0, watchdog: nil)
    // Strict, because a cost that is missing in the timings would be modelled, and the load would
    // differ from its document.
    options.costs = RunCosts(timings: try timings(), isStrict: true)
    options.overrides = load.events.map { .event(atNanoseconds: $0.nanoseconds, $0.event) }
    let meter = PoolMeter(end: load.nanoseconds, size: contender.capacity)
    let outcome = try PreparedRun(pipeline, catalog: StageRegistry()).run(options, observer: meter)
    return PoolFigures(
      load: load, contender: contender.name, lost: outcome.lostBeforeCapture,
      meter: meter.finished())
  }

  private func timings() throws -> RecordedTimings {
    var builder = RecordedTimings.Builder()
    for sequence in 0..<load.frameCount {
      try builder.append(
        node: Self.stage, frame: FrameID(track: 0, sequence: sequence), item: -1,
        nanoseconds: load.cost(ofFrame: sequence))
    }
    return try builder.finish(name: load.name)
  }

  /// Frames wait only for a server, so only the pool limits how many are in flight.
  private var pipeline: Pipeline {
    var adaptive = contender.adaptive
    adaptive?.resizeNanoseconds = load.resizeNanoseconds
    var camera = PipelineNode(
      id: "camera", stage: BenchFrames(fps: load.fps, count: load.frameCount).stage)
    camera.pool = Self.pool
    var ocr = PipelineNode(id: Self.stage, stage: Self.reading)
    ocr.concurrency = load.executors
    return Pipeline(
      name: load.name,
      nodes: [camera, ocr, PipelineNode(id: "text", stage: Self.sink)],
      edges: [
        PipelineEdge(from: "camera", to: Self.stage, capacity: Self.waitingMax),
        PipelineEdge(from: Self.stage, to: "text"),
      ],
      pools: [
        PipelinePool(
          id: Self.pool, capacity: contender.capacity, adaptive: adaptive, wait: load.wait,
          driverFrames: load.driverFrames)
      ])
  }

  /// More than the capacity of any pool.
  private static let waitingMax = 8_192

  private static var reading: AnyStage {
    AnyStage(
      signature: StageSignature(
        kind: stage, version: 1, role: .pure, input: .frame, output: .scalars),
      options: .object([:]), body: .pure { _, _ in .success(Scalars([])) })
  }

  package static var sink: AnyStage {
    AnyStage(
      signature: StageSignature(kind: "text", version: 1, role: .sink, input: nil, output: nil),
      options: .object([:]), body: .sink { _ in })
  }
}
