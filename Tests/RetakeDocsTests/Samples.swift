import Foundation
import Logging
import Retake
import RetakeClock
import RetakeMetrics
import RetakePreview
import RetakeTestSupport
import Testing

// The Swift code of the pages, compiled: each region between `// docs/PAGE.md` and `// end` is one
// fenced block of that page, apart from its indentation. The code around a region is code that a
// reader has already.

private struct AudioBlock: Sendable {
  var samples: Int
}

private struct ResultView: Sendable {
  func update(with result: Result<Detections, StageFailure>) {}
}

private func ordered() {
  // docs/swift-pipelines.md
  let pipeline = Pipeline.named("ordered")
    .source(.session())  // the source
    .gray().cost(.fixed(.milliseconds(2)))  // a stage and its cost
    .motion()  // the next stage
    .queue(capacity: 2, policy: .dropOldest)  // before motion
    .on(executor: "vision")  // the executor of motion
    .executor("vision", count: 2)  // declared once, before the sink
    .results("boxes")  // the sink ends the chain
  // end
  _ = pipeline
}

private func branches() {
  // docs/swift-pipelines.md
  let gray = Pipeline.named("branches").source(.session()).gray()
  let pipeline = Pipeline.combining(
    gray.motion().results("boxes"), gray.luminance(id: "light").results("values"))
  // end
  _ = pipeline
}

private func ensemble() {
  // docs/swift-pipelines.md
  let frames = Pipeline.named("ensemble").source(.session())
  let calm = frames.motion(threshold: 40, id: "calm").cost(.fixed(.milliseconds(10)))
  let keen = frames.motion(threshold: 12, id: "keen").cost(.fixed(.milliseconds(25)))
  let pipeline = Pipeline.joining(calm, keen, mode: .any, timeout: .milliseconds(50), id: "both")
    .mergeDetections(id: "merged").results("boxes")
  // end
  _ = pipeline
}

private func overlay() {
  // docs/swift-pipelines.md
  let frames = Pipeline.named("overlay").source(.session())
  let motion = frames.motion().cost(.fixed(.milliseconds(120))).queue(capacity: 1, policy: .replace)
  let pipeline = frames.latest(with: motion, ports: ["frame", "boxes"], id: "shown")
    .queue(capacity: 2, policy: .dropOldest, port: "frame")
    .sink(.discard, id: "screen", hold: .milliseconds(16))
  // end
  _ = pipeline
}

private func colors() {
  // docs/swift-pipelines.md
  let frames = Pipeline.named("colours").source(.session())
  let pipeline = frames.forEach(frames.motion(), id: "each") { region in
    region.regionCrop(padding: 0.2).meanColor().cost(.fixed(.milliseconds(4))).concurrency(2)
  }.results("boxes")
  // end
  _ = pipeline
}

private func emotion(_ overlayView: ResultView) throws {
  // docs/swift-pipelines.md
  let pipeline = try Pipeline.named("emotion")
    .source(.session(), fps: 30)
    .transform(.downsample(to: CGSize(width: 640, height: 480)))
    .detect(.faces, model: "centerface.onnx")
    .forEach { detection in
      try detection
        .crop(padding: 0.2)
        .transform(.resize(to: CGSize(width: 224, height: 224)))
        .classify(model: "emotion.onnx")
    }
    .sink { result in overlayView.update(with: result) }
  // end
  _ = pipeline
}

private func programs() throws {
  let frames = Pipeline.named("faces").source(.session())
  // docs/processes.md
  let boxes = try frames.process(["python3", "faces.py"], output: .detections, instances: 2)
  // end
  _ = boxes
}

private func sizing() {
  let frames = Pipeline.named("sized").source(.session())
  // docs/swift-pipelines.md
  var sizing = PoolSizing()
  (sizing.min, sizing.max, sizing.predictor) = (5, 10, .ar1)
  sizing.off = [.thermal, .memory]
  let chain = frames.pool("pictures").pool("pictures", capacity: 6, adaptive: sizing)
  // end
  _ = chain
}

private func waiting() {
  let frames = Pipeline.named("waiting").source(.session())
  // docs/swift-pipelines.md
  let waiting = frames.pool("frames")
    .pool("frames", capacity: 8, wait: .milliseconds(25), driverFrames: 2)
  // end
  _ = waiting
}

private func failing() throws {
  // docs/failures.md
  throw StageError(
    code: "gpu.memory", message: "out of memory: 512 MB asked", severity: .unrecoverable)
  // end
}

private func results(
  _ show: @escaping @Sendable (Detections) -> Void, _ skip: @escaping @Sendable (FrameID) -> Void,
  _ stop: @escaping @Sendable (String) -> Void
) {
  let gray = Pipeline.named("results").source(.session()).gray()
  // docs/failures.md
  let pipeline = gray.motion().sink { result in
    switch result {
    case .success(let boxes): show(boxes)
    case .failure(let failure) where failure.isRecoverable: skip(failure.frame)
    case .failure(let failure): stop(failure.message)
    }
  }
  // end
  _ = pipeline
}

private func finder() {
  // docs/preview.md
  let frames = Pipeline.named("finder").source(.session()).pool("camera")
    .pool("camera", capacity: 3)
  let found = frames.copy().queue(capacity: 1, policy: .replace).gray()
    .queue(capacity: 1, policy: .replace).motion().queue(capacity: 1, policy: .replace)
  let pipeline = frames.preview(of: found)
  // end
  _ = pipeline
}

/// A camera of an app: its own thread calls a closure with each frame.
protocol AppCamera: AnyObject {
  func onFrame(_ body: @escaping @Sendable (Frame) -> Void)
  var hasStopped: Bool { get }
}

/// `LivePreviewSampleTests` runs it.
@MainActor func showPreview(
  _ pipeline: Pipeline, tracks: [LiveTrack], camera: any AppCamera
) throws -> WindowFigures {
  let log: @Sendable (String) -> Void = { _ in }
  // docs/preview.md
  var options = LiveOptions()
  options.niceness = LiveOptions.nicenessBelowPreview
  let feed = PreviewFeed { alarm in log("\(alarm)") }
  let preview = try LivePreview(feed, title: "finder")
  let places = ResultPlaces(pipeline, tracks: tracks)
  let session = try LiveSession(
    pipeline, tracks: tracks, catalog: StageRegistry.builtIn, options: options)
  camera.onFrame { frame in
    feed.offer(frame)  // by reference; returns at once
    session.push(frame)
  }
  Task.detached { for await result in session.results { feed.show(places.result(result)) } }
  // On the main thread, until the user closes the window.
  let isClosed = try preview.run { camera.hasStopped }
  // end
  #expect(!isClosed)
  return feed.figures
}

private func pulse() {
  // docs/pulse.md
  let frames = Pipeline.named("pulse").source(.session())
  let band = Pipeline.joining(frames, frames.findFingertip(), ports: ["frame", "finger"])
    .regionMeans(percent: 50)  // mean red, green and blue of the finger
    .resample(rate: 30, windowSeconds: 10)  // the latest ten seconds, by presentation times
    .pulseSignal(.red).detrend().bandpass(low: 0.5, high: 4)
  let pipeline = Pipeline.combining(
    band.pulseRate().results("rate"), band.heartVariability().results("beats"))
  // end
  _ = pipeline
}

private enum OwnStages {
  // docs/own-stage.md
  struct BrightOptions: StageOptions {
    static let explanations = ["above": "level above which a pixel is bright, 0 to 255"]
    var above = 200
  }

  struct BrightPixels: PureStage {
    typealias Options = BrightOptions
    static let kind = "bright-pixels"
    static let inputFormats: [PixelFormat] = [.gray]
    let options: BrightOptions

    init(options: BrightOptions) { self.options = options }

    func process(_ frame: Frame, _ context: StageContext) -> Scalars {
      let above = options.above
      return Scalars([.init("bright", Double(frame.bytes(of: 0).count { $0 > above }))])
    }
  }

  struct Change: StatefulStage {
    static let kind = "change"
    private var last: Double?

    mutating func process(_ input: Scalars, _ context: StageContext) -> Scalars {
      let bright = input["bright"] ?? 0
      defer { last = bright }
      return Scalars([.init("change", bright - (last ?? bright))])
    }

    mutating func reset() { last = nil }
  }
  // end

  // docs/own-stage.md
  struct Negative: PureStage {
    static let kind = "negative"
    static let inputFormats: [PixelFormat] = [.gray]

    func process(_ frame: Frame, _ context: StageContext) -> Frame {
      var output = context.makeFrame(like: frame)
      output.copyPixels(of: frame)
      output.forEachRow(of: 0) { _, bytes in
        for x in bytes.indices { bytes[x] = 255 - bytes[x] }
      }
      return output.finish()
    }
  }
  // end
}

private struct RowCamera {
  func read(_ row: Int, into bytes: UnsafeMutableRawBufferPointer) {}
}

private func framePool(_ camera: RowCamera, _ session: LiveSession) throws {
  // docs/pools.md
  let frames = FramePool("frames", capacity: 8)
  guard var frame = try frames.makeFrame(for: "camera", format: .bgra, width: 1920, height: 1080)
  else { return }  // all are in use: a stall
  frame.forEachRow(of: 0) { row, bytes in camera.read(row, into: bytes) }
  session.push(frame.finish())
  // end
}

private enum DeepPixels {
  // docs/pixels.md
  struct Peak: PureStage {
    static let kind = "peak"
    static let inputFormats: [PixelFormat] = [.gray(bits: 10), .i420(bits: 10), .gray, .i420]

    func process(_ frame: Frame, _ context: StageContext) -> Scalars {
      var peak = 0
      frame.forEachRow(of: 0) { row in
        let isDeep = frame.format.bitsPerSample > 8
        for x in 0..<frame.width {
          let sample = isDeep ? Int(row[2 * x]) | Int(row[2 * x + 1]) << 8 : Int(row[x])
          peak = max(peak, sample)
        }
      }
      return Scalars([.init("peak", Double(peak))])
    }
  }
  // end
}

private enum RichResults {
  // docs/results.md
  struct Road: PureStage {
    static let kind = "road"

    func process(_ frame: Frame, _ context: StageContext) -> Observations {
      let mask = Mask(width: frame.width, height: frame.height) { _, y in y >= frame.height / 2 }
      let horizon = KeyPoint("horizon", x: 0, y: Double(frame.height) / 2)
      let lane = Polyline([SIMD2(0, Double(frame.height)), SIMD2(120.5, 64)])
      var found = [
        Observation(.mask(mask), label: "road", score: 0.9),
        Observation(.points(KeyPoints([horizon])), label: "road"),
        Observation(.polyline(lane), label: "lane"),
        Observation(.json(.object(["lanes": .integer(2)])), label: "scene"),
      ]
      let meters = [Float](repeating: 12.5, count: frame.width * frame.height)
      if let depth = PixelArray(width: frame.width, height: frame.height, meters) {
        found.append(Observation(.image(depth), label: "depth"))
      }
      return Observations(found)
    }
  }
  // end
}

private enum StageValues {
  // docs/stage-values.md
  struct Inverted: PureStage {
    static let kind = "inverted"
    static let inputFormats: [PixelFormat] = [.gray]

    func process(_ frame: Frame, _ context: StageContext) -> Frame {
      Frame(
        id: frame.id, timestamp: frame.timestamp, format: .gray, width: frame.width,
        height: frame.height, range: frame.range, planes: [frame.bytes(of: 0).map { 255 - $0 }])
    }
  }
  // end

  struct Smaller {
    // docs/stage-values.md
    func view(of input: ImageShape) -> ImageView? {
      ImageView(scaling: input, width: 320, height: 240)
    }
    // end
  }

  // docs/stage-values.md
  struct Lanes: StageValue {
    static let typeName = "lanes"
    static let typeVersion = 1
    var columns: [UInt8]

    init(columns: [UInt8]) { self.columns = columns }
    init(decoding bytes: [UInt8]) { columns = bytes }
    func encoded() -> [UInt8] { columns }
  }
  // end

  // docs/stage-values.md
  struct Plates: PureStage {
    static let kind = "plates"

    func process(_ frame: Frame, _ context: StageContext) throws -> Detections {
      guard frame.width >= 64 else {
        throw StageError(code: "plates.small", message: "\(frame.width) pixels are too few")
      }
      let box = Box(x: 12, y: 8.5, width: 40, height: 20)
      let plate = Detection(box: box, score: 0.9, classIndex: 1)
      return Detections([plate], classNames: ["car", "plate"])
    }
  }
  // end
}

private func lease(_ fill: (AudioBlock) -> Void, _ nanoseconds: Int64) throws {
  // docs/pools.md
  let pool = BufferPool("audio", sizing: PoolSizing()) { AudioBlock(samples: 1_024) }
  guard let lease = try pool.lease(for: "filter") else { return }  // a stall
  fill(lease.buffer)
  lease.end()
  pool.advance(to: nanoseconds)
  print(pool.report.faults)  // "'filter' leaked 1 of its leases"
  // end
}

private func heat() {
  // docs/heat.md
  let calm = Pipeline.named("calm").source(.session())
    .throttle(fps: 60, when: [DeviceRule(temperature: 45, fps: 30)])
    .results()
  // end
  _ = calm
}

private func metrics(of replay: Replay) throws {
  // docs/metrics.md
  let metrics = RunMetrics(of: replay.pipeline, logger: Logger(label: "vision"))
  let summary = try replay.run(observers: [metrics])
  // end
  _ = summary
}

private func metrics(
  of pipeline: Pipeline, _ source: any RecordingSource, _ options: RecorderOptions
) throws {
  // docs/metrics.md
  let metrics = LiveMetrics(of: pipeline, logger: Logger(label: "vision"))
  let recorder = try Recorder(
    source, options: options, pipeline: LivePipeline(pipeline, registry: .builtIn),
    watch: metrics.watch)
  let result = try recorder.run()
  // end
  _ = result
}

private func live(
  _ pipeline: Pipeline, _ frame: Frame, _ show: @escaping @Sendable (FrameResult) -> Void
) async throws {
  // docs/live.md
  let session = try LiveSession(
    pipeline, tracks: [LiveTrack(format: .nv12, width: 1920, height: 1080)],
    catalog: StageRegistry.builtIn)
  Task { for await result in session.results { show(result.frame.result) } }
  session.push(frame)  // from any thread; waits for nothing
  session.push(.thermal(.serious))
  try await session.swap("motion", to: AnyStage(Motion(options: MotionOptions(threshold: 30))))
  let outcome = try await session.stop()  // lets frames on their way end, a second at most
  // end
  _ = outcome
}

private func stored() throws {
  // docs/stored-detections.md
  let pipeline = try Pipeline.named("watch").source(.session())
    .detections(file: "boxes.txt", firstFrame: 0).results("boxes")
  // end
  _ = pipeline
}

private func moods() throws {
  // docs/model-pipelines.md
  let frames = Pipeline.named("moods").source(.session())
  let small = try frames.classify(model: "small.onnx", id: "small").cost(.fixed(.milliseconds(5)))
  let large = try frames.classify(model: "large.onnx", id: "large").cost(.fixed(.milliseconds(15)))
  let pipeline = Pipeline.joining(small, large, mode: .any, timeout: .milliseconds(20), id: "both")
    .meanClasses().results("moods")
  // end
  _ = pipeline
}

private func glucose(_ band: PipelineChain<Waveform>) throws {
  // docs/model-pipelines.md
  let numbers = Pipeline.joining(
    band.pulseRate(), band.heartVariability(), ports: ["rate", "beats"]
  ).mergeScalars()
  let glucose = try numbers.regress(model: "glucose.onnx", features: ["rate.bpm", "beats.sdnn"])
  // end
  _ = glucose
}

private func swapped(_ session: LiveSession) async throws {
  // docs/model-pipelines.md
  let stage = try StageRegistry.builtIn.make(
    kind: "classify", options: .object(["model": .string("new.onnx")]))
  try await session.swap("mood", to: stage)
  // end
}

private func searchModel() {
  // docs/virtual-clock.md
  actor Search {
    private let clock: any Clock<Duration>
    private var waiting: Task<Void, any Error>?
    private(set) var searches: [String] = []

    init(clock: any Clock<Duration> = ContinuousClock()) { self.clock = clock }

    /// Searches when nothing was typed for 300 ms.
    func typed(_ text: String) {
      waiting?.cancel()
      waiting = Task {
        try await clock.sleep(for: .milliseconds(300))
        searches.append(text)
      }
    }
  }
  // end
}

private actor Search {
  private(set) var searches: [String] = []

  init(clock: any Clock<Duration>) {}
  func typed(_ text: String) {}
}

private func virtualTime() async throws {
  // docs/virtual-clock.md
  let searches = try await withVirtualTime { time in
    let search = Search(clock: time.clock)
    await search.typed("r")
    await time.run(for: .milliseconds(100))
    await search.typed("re")
    await time.run(until: .seconds(1))
    return await search.searches
  }
  // end
  _ = searches
}

private func virtualFrames() async throws {
  // docs/virtual-clock.md
  let seen = try await withVirtualTime { time in
    let instants = (0..<90).map { VirtualClock.Instant(nanoseconds: $0 * 33_333_333) }
    var seen: [Int] = []
    for await frame in time.frames(Array(0..<90), at: instants, buffering: .bufferingNewest(1)) {
      seen.append(frame)
      try await time.clock.sleep(for: .milliseconds(45))  // what the analysis costs
    }
    return seen
  }
  // end
  _ = seen
}

// docs/sensors.md
struct Turning: PureStage {
  static let kind = "turning"
  var sensors: [SensorRead] { [.window("gyroscope", .milliseconds(33))] }

  func process(_ frame: Frame, _ context: StageContext) -> Scalars {
    let window = context.sensor("gyroscope").window
    let fastest = window.flatMap(\.values).map(abs).max() ?? 0
    return Scalars([.init("fastest", fastest), .init("samples", Double(window.count))])
  }
}
// end
