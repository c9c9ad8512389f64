import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeStages
import RetakeTimePlane

/// A load on a phone in virtual time. Frames are 1920×1080 BGRA.
package struct HeatTrial: Sendable {
  package var name: String
  var fps: Int
  var pipeline: Pipeline
  /// Whether a stage copies: without copies, all phones are the same.
  var makesCopies: Bool {
    pipeline.nodes.contains {
      $0.stage.signature.role.isServed && $0.stage.signature.output == .frame
    }
  }

  /// How long it runs.
  var minutes: Int64 = 20
  /// Whether the trial ends as soon as the phone is hot, because it measures only that time.
  var endsWhenHot = false

  private static let seed: UInt64 = 2_001
  /// The duration of a copy of a frame: 8.2944 MB at 10 GB/s.
  static let copyCost = Cost.fixed(.microseconds(829))

  func run(
    on profile: DeviceProfile, nanoseconds: Int64? = nil
  ) throws -> CoreRun.Outcome {
    try CoreRun(
      pipeline, camera: .init(fps: fps, format: .bgra), profile: profile, seed: Self.seed
    ).run(
      nanoseconds: nanoseconds ?? minutes * 60_000_000_000, until: endsWhenHot ? .serious : nil)
  }

  /// In the order of the table.
  package static var standard: [HeatTrial] {
    [0, 1, 3].map { copies($0) } + [60, 30].map { preview(fps: $0) } + [
      adaptivePreview, pool("pool of 8", capacity: 8),
      pool("pool of 4-12", capacity: 8, adaptive: PoolSizing()),
      pool("deep, 8", capacity: 8, isDeep: true),
      pool("deep, 4-12", capacity: 8, adaptive: PoolSizing(), isDeep: true),
      pulse("30 fps"), pulse("15 fps", throttle: DevicePolicy(fps: 15)),
      pulse(
        "15 fps while hot",
        throttle: DevicePolicy(fps: 30, rules: [DeviceRule(thermal: .serious, fps: 15)])),
    ]
  }

  // MARK: Copies

  /// A declarative pipeline: a number of copies, then faces in 18 ms and a classifier in 6 ms.
  static func copies(_ count: Int) -> HeatTrial {
    let copies = (0..<count).map { index in
      node("copy\(index)", makes: .frame, cost: copyCost, on: HeatPhone.cpu)
    }
    var trial = HeatTrial(
      name: counted(count, "copy", "copies"), fps: 30,
      pipeline: chain(
        "copies",
        copies + [
          node("faces", makes: .detections, cost: .fixed(.milliseconds(18)), on: HeatPhone.cpu),
          node("classes", makes: .scalars, cost: .fixed(.milliseconds(6)), on: HeatPhone.cpu),
        ]))
    trial.endsWhenHot = true
    return trial
  }

  // MARK: A preview

  /// A double-buffered preview: each frame is drawn, and a model looks at the newest one whenever
  /// it is free.
  static func preview(fps: Int) -> HeatTrial {
    var trial = preview("preview at \(fps)", DevicePolicy(fps: Double(fps)))
    (trial.minutes, trial.endsWhenHot) = (40, true)
    return trial
  }

  static var adaptivePreview: HeatTrial {
    preview(
      "preview, 30 from 45 °C", DevicePolicy(fps: 60, rules: [DeviceRule(temperature: 45, fps: 30)])
    )
  }

  private static func preview(_ name: String, _ policy: DevicePolicy) -> HeatTrial {
    var pipeline = chain(
      "preview",
      [
        throttle("pace", policy),
        node("draw", makes: .frame, cost: .fixed(.milliseconds(4)), on: HeatPhone.gpu),
      ])
    pipeline.nodes += [
      node(
        "vision", makes: .scalars, cost: .uniform(.milliseconds(50), .milliseconds(200)),
        on: HeatPhone.model),
      PipelineNode(id: "found", stage: sink),
    ]
    pipeline.edges += [
      PipelineEdge(from: "pace", to: "vision", capacity: 1, policy: .replace),
      PipelineEdge(from: "vision", to: "found"),
    ]
    pipeline.nodes[3].isPrimary = true
    return HeatTrial(name: name, fps: 60, pipeline: pipeline)
  }

  // MARK: Pools

  /// Predictive allocation: text recognition runs for 25 to 50 ms per frame. With `isDeep`, eight
  /// servers run for 150 to 300 ms per frame, so that the number of buffers bounds the work.
  static func pool(
    _ name: String, capacity: Int, adaptive: PoolSizing? = nil, isDeep: Bool = false
  ) -> HeatTrial {
    let cost: Cost =
      isDeep
      ? .uniform(.milliseconds(150), .milliseconds(300))
      : .uniform(.milliseconds(25), .milliseconds(50))
    var read = node("read", makes: .scalars, cost: cost, on: HeatPhone.cpu)
    read.concurrency = isDeep ? 8 : 2
    var pipeline = chain("pool", [read], servers: isDeep ? 8 : 2)
    pipeline.nodes[0].pool = "frames"
    pipeline.edges[0].capacity = 64
    pipeline.pools = [PipelinePool(id: "frames", capacity: capacity, adaptive: adaptive)]
    return HeatTrial(name: name, fps: 30, pipeline: pipeline)
  }

  // MARK: A pulse

  /// A pulse: 16.5 ms in the middle and 22 ms at the 99th percentile.
  static func pulse(_ name: String, throttle policy: DevicePolicy? = nil) -> HeatTrial {
    let pulse = node(
      "pulse", makes: .scalars,
      cost: .quantiles(p50: .microseconds(16_500), p99: .milliseconds(22)), on: HeatPhone.cpu)
    return HeatTrial(
      name: name, fps: 30,
      pipeline: chain("pulse", (policy.map { [throttle("calm", $0)] } ?? []) + [pulse]))
  }

  // MARK: Parts

  private static func chain(
    _ name: String, _ nodes: [PipelineNode], servers: Int = 2
  ) -> Pipeline {
    let camera = PipelineNode(id: "camera", stage: BenchFrames(fps: 30, count: 0).stage)
    let all = [camera] + nodes + [PipelineNode(id: "results", stage: sink)]
    return Pipeline(
      name: name, nodes: all,
      edges: zip(all, all.dropFirst()).map { PipelineEdge(from: $0.id, to: $1.id) },
      executors: [
        PipelineExecutor(id: HeatPhone.cpu, count: servers), PipelineExecutor(id: HeatPhone.gpu),
        PipelineExecutor(id: HeatPhone.model),
      ])
  }

  private static func node(
    _ id: String, makes output: ValueKind, cost: Cost, on executor: String
  ) -> PipelineNode {
    PipelineNode(
      id: id,
      stage: AnyStage(
        signature: StageSignature(kind: id, version: 1, role: .pure, input: nil, output: output),
        options: .object([:]), body: .pure { value, _ in .success(value) }),
      cost: cost, executor: executor)
  }

  private static func throttle(_ id: String, _ policy: DevicePolicy) -> PipelineNode {
    PipelineNode(
      id: id,
      stage: AnyStage(
        signature: StageSignature(
          kind: "throttle", version: 1, role: .throttle, input: nil, output: nil),
        options: .object([:]), body: .throttle(policy)))
  }

  private static var sink: AnyStage {
    AnyStage(
      signature: StageSignature(kind: "results", version: 1, role: .sink, input: nil, output: nil),
      options: .object([:]), body: .sink { _ in })
  }
}
