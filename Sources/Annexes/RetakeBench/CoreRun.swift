import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTimePlane

/// Runs a pipeline in the decision core that replays sessions, without values: minutes of virtual
/// time in seconds. No stage of it may fail, and no node may choose by a value.
final class CoreRun: GateKeeperWithoutValues {
  /// Frames of the only source.
  struct Camera {
    var fps: Int
    var format = PixelFormat.nv12
    var width = 1_920
    var height = 1_080
  }

  struct Outcome {
    var captured = 0
    var delivered = 0
    /// From arrival to the primary sink, in nanoseconds, in the order of delivery.
    var latencies: [Int64] = []
    var heat: HeatCounts?
    /// When each thermal state was entered first, in nanoseconds.
    var firstOf: [ThermalState: Int64] = [:]
    var digest = Digest128.zero
  }

  private let pipeline: Pipeline
  private let camera: Camera
  private let costs: RunCosts
  private let seed: UInt64

  init(_ pipeline: Pipeline, camera: Camera, profile: DeviceProfile, seed: UInt64) {
    self.pipeline = pipeline
    self.camera = camera
    costs = RunCosts(profile: profile)
    self.seed = seed
  }

  /// - Parameter stop: The run also ends when the device is in this state or hotter.
  func run(nanoseconds: Int64, until stop: ThermalState? = nil) throws -> Outcome {
    let plan = try GraphPlan(pipeline.flattened())
    let source = plan.sources[0]
    let count = Int(nanoseconds / 1_000_000 * Int64(camera.fps) / 1_000)
    var firstOf: [ThermalState: Int64] = [:]
    var core = DecisionCore(
      plan: plan, rules: .simulate, profile: costs.profile,
      frameBytes: plan.frameBytes(of: [source: track(count)]))
    var model = CostModel(plan: plan, seed: seed, isFree: false, costs: costs)
    var turn = EventContext(gates: self)
    var outcome = Outcome()
    var arrived = 0
    func announce(_ core: inout DecisionCore) {
      guard arrived < count else { return }
      core.addArrival(
        source: source, id: FrameID(track: 0, sequence: arrived),
        time: BenchFrames.time(ofFrame: arrived, fps: camera.fps))
    }
    announce(&core)
    // Bounded: the camera has `count` frames.
    while let event = try core.popEvent() {
      if event.kind == .arrival {
        arrived += 1
        announce(&core)
      }
      core.handle(event, &turn)
      if event.kind == .heat, let state = core.device.thermal, firstOf[state] == nil {
        firstOf[state] = core.now
        if let stop, state >= stop { break }
      }
      for action in turn.actions {
        switch action {
        case .start(let node, let work, _):
          let id = core.slots[work.slotIndex].id
          var service = CostModel.Service(node: node, frame: id, time: core.now)
          service.thermal = core.device.thermal
          core.addCompletion(
            node: node, work: work, time: core.now + (try model.answer(service).nanoseconds))
        case .captured: outcome.captured += 1
        case .deliver(plan.primarySink, let slot):
          outcome.delivered += 1
          outcome.latencies.append(core.now - core.slots[slot].arrival)
        default: break
        }
      }
      turn.actions.removeAll(keepingCapacity: true)
    }
    outcome.heat = core.heatCounts
    outcome.firstOf = firstOf
    outcome.digest = core.log.digest()
    return outcome
  }

  private func track(_ count: Int) -> TrackDescription {
    TrackDescription(
      track: 0, timeBase: TimeBase(1, Int32(camera.fps)), format: camera.format,
      width: camera.width, height: camera.height, frameCount: count)
  }
}
