import RetakeBuffers
import RetakeCore
package import RetakeGraph
import RetakeRuntime
import RetakeStages

/// A preview under one load, in virtual time: ten seconds of a camera at 60 frames per second,
/// shown on a screen with a refresh rate of 60 hertz.
package struct PreviewTrial: Sendable {
  /// How the detector receives its frames.
  package enum Vision: Hashable, Sendable {
    /// It works on the buffers of the camera.
    case reference
    /// It works on copies, each of which costs a millisecond.
    case copies
    /// The preview waits for the detector.
    case inLine
  }

  package var name: String
  package var vision = Vision.copies
  package var visionCost = Cost.uniform(.milliseconds(50), .milliseconds(200))
  package var cameraBuffers = 3
  package var screenBuffers = 3
  package var render = Cost.fixed(.milliseconds(4))
  /// Whether a frame waits, however long, when two frames are already waiting.
  package var isQueued = false
  /// When the device is hot, in nanoseconds.
  package var heat: Range<Int64>?

  static let camera = "camera"
  static let screen = "screen"
  package static let fps = 60
  static let frames = 600
  package static let seconds = frames / fps
  package static let hotSeconds = 3
  private static let waitingMax = 1_024

  package init(_ name: String) { self.name = name }

  /// The trials that `retake bench preview` runs, in this order.
  package static var standard: [PreviewTrial] {
    func trial(_ name: String, _ change: (inout PreviewTrial) -> Void) -> PreviewTrial {
      var trial = PreviewTrial(name)
      change(&trial)
      return trial
    }
    let late = Cost.fixed(.milliseconds(17))
    // 58 images a second.
    let slow = Cost.fixed(.nanoseconds(17_241_379))
    return [
      PreviewTrial("copies"),
      trial("reference") { $0.vision = .reference },
      trial("2 buffers, copies") { $0.cameraBuffers = 2 },
      trial("2 buffers, reference") { ($0.cameraBuffers, $0.vision) = (2, .reference) },
      trial("in line") { $0.vision = .inLine },
      trial("vision hangs") { $0.visionCost = .fixed(.seconds(3_600)) },
      trial("draws 17 ms") { $0.render = late },
      trial("draws 17 ms, reference") { ($0.render, $0.vision) = (late, .reference) },
      trial("draws 17 ms, 2 on screen") { ($0.render, $0.screenBuffers) = (late, 2) },
      // As many buffers as frames may wait; with fewer, they would be lost at the camera instead.
      trial("draws 17 ms, queued") {
        ($0.render, $0.isQueued, $0.cameraBuffers) = (late, true, waitingMax)
      },
      trial("58 fps, 2 buffers") { ($0.render, $0.cameraBuffers) = (slow, 2) },
      trial("58 fps, 3 buffers") { $0.render = slow },
      trial("58 fps, 4 buffers") { ($0.render, $0.cameraBuffers) = (slow, 4) },
      trial("58 fps, 2 on screen") { ($0.render, $0.screenBuffers) = (slow, 2) },
      trial("58 fps, 4 on screen") { ($0.render, $0.screenBuffers) = (slow, 4) },
      trial("hot from 3 to 6 s") { $0.heat = 3_000_000_000..<6_000_000_000 },
    ]
  }

  /// - Throws: The error of a run. No trial causes an error.
  package func run() throws -> PreviewFigures {
    // No watchdog: a vision that hangs costs an hour of virtual time, and its body returns at once.
    var options = RunOptions(mode: .simulate, workers: 0, watchdog: nil)
    if let heat {
      options.overrides = [
        .event(atNanoseconds: heat.lowerBound, .thermal(.serious)),
        .event(atNanoseconds: heat.upperBound, .thermal(.nominal)),
      ]
    }
    let meter = PreviewMeter()
    let outcome = try PreparedRun(pipeline, catalog: StageRegistry.core)
      .run(options, observer: meter)
    return PreviewFigures(trial: name, outcome: outcome, meter: meter)
  }

  private var pipeline: Pipeline {
    let camera = Pipeline.named("preview")
      .source(BenchFrames(fps: Self.fps, count: Self.frames).stage)
      .pool(Self.camera).pool(Self.camera, capacity: cameraBuffers)
    guard vision != .inLine else {
      return looked(camera).queue(capacity: 1, policy: .dropNewest).screen(Self.screen)
    }
    var model = PreviewModel()
    (model.render, model.screenBuffers) = (render, screenBuffers)
    var pipeline = camera.preview(of: found(camera), model: model, id: Self.screen)
    if isQueued {
      for index in pipeline.edges.indices where pipeline.edges[index].policy == .dropNewest {
        pipeline.edges[index].policy = .block
        pipeline.edges[index].capacity = Self.waitingMax
      }
    }
    return pipeline
  }

  private func looked(_ frames: PipelineChain<Frame>) -> PipelineChain<Scalars> {
    frames.map("vision") { _, _ in Scalars([]) }.cost(visionCost)
  }

  private func found(_ camera: PipelineChain<Frame>) -> PipelineChain<Scalars> {
    guard vision == .copies else {
      return looked(camera).queue(capacity: 1, policy: .replace)
    }
    let copies = camera.copy().queue(capacity: 1, policy: .replace).cost(.fixed(.milliseconds(1)))
    return looked(copies).queue(capacity: 1, policy: .replace)
  }
}
