import Retake
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakePulse
import RetakeRuntime
import RetakeStages
import RetakeTestFrames
import Testing

@Suite struct FindFingertipTests {
  private func find(_ frame: Frame) throws -> Detections {
    try FindFingertip(options: FindFingertipOptions()).process(frame, anyContext)
  }

  @Test func `the drawn fingertip covers the whole frame`() throws {
    let scene = try SyntheticScene(SyntheticOptions(scene: .pulse, width: 64, height: 48))
    let found = try find(scene.frame(FrameID(track: 0, sequence: 7)))
    #expect(found.classNames == ["fingertip"])
    #expect(
      found.items == [Detection(box: Box(x: 0, y: 0, width: 64, height: 48), score: 1)])
  }

  @Test func `figures, gray and darkness are no fingertip`() throws {
    let scene = try SyntheticScene(SyntheticOptions(scene: .figures, width: 64, height: 48))
    #expect(try find(scene.frame(FrameID(track: 0, sequence: 7))).items.isEmpty)
    #expect(try find(frame(.gray, 64, 48) { _, _, _ in 200 }).items.isEmpty)
    #expect(try find(frame(.rgb, 64, 48) { _, _, x in x % 3 == 0 ? 40 : 2 }).items.isEmpty)
  }

  @Test func `a finger on a part of the lens is found where it is`() throws {
    // Red right of column 16, gray before it: three quarters of 64 columns.
    let half = frame(.rgb, 64, 48) { _, _, x in x / 3 < 16 || x % 3 == 0 ? 150 : 40 }
    let found = try find(half)
    #expect(
      found.items == [Detection(box: Box(x: 16, y: 0, width: 48, height: 48), score: 0.75)])
    let less = try FindFingertip(options: FindFingertipOptions(coverageMin: 0.8, redness: 1.5))
    #expect(less.process(half, anyContext).items.isEmpty)
  }

  @Test func `frames of any size have cells`() throws {
    for (width, height) in [(1, 1), (2, 3), (17, 5), (33, 31)] {
      let red = frame(.rgb, width, height) { _, _, x in x % 3 == 0 ? 200 : 20 }
      let box = Box(x: 0, y: 0, width: Double(width), height: Double(height))
      #expect(try find(red).items == [Detection(box: box, score: 1)])
    }
  }
}

@Suite struct RegionMeansTests {
  private let picture = frame(.rgb, 32, 32) { _, y, x in
    (8..<24).contains(y) && (8..<24).contains(x / 3) ? [200, 100, 50][x % 3] : 0
  }

  private func measure(_ detections: [Detection], percent: Int = 60) throws -> [Double] {
    let joined = Joined([
      .init(port: "frame", value: picture),
      .init(port: "face", value: Detections(detections, classNames: ["face"])),
    ])
    return try RegionMeans(options: RegionMeansOptions(percent: percent))
      .process(joined, anyContext).entries.map(\.value)
  }

  @Test func `the middle of the best detection is measured`() throws {
    let box = Box(x: 8, y: 8, width: 16, height: 16)
    let other = Detection(box: Box(x: 0, y: 0, width: 4, height: 4), score: 0.4)
    let nothing = Detection(box: Box(x: 0, y: 0, width: 4, height: 4), score: .nan)
    let face = Detection(box: box, score: 0.9)
    #expect(try measure([nothing, other, face, other]) == [200, 100, 50])
    #expect(try measure([face], percent: 100) == [200, 100, 50])
    let wide = Detection(box: Box(x: 0, y: 0, width: 32, height: 32), score: 0.9)
    #expect(try measure([wide], percent: 100) == [50, 25, 12.5])
    #expect(try measure([wide], percent: 50) == [200, 100, 50])
  }

  @Test func `a box that reaches over the edge is cut, and one outside fails`() throws {
    let over = Detection(box: Box(x: 20, y: 20, width: 100, height: 100), score: 1)
    #expect(try measure([over], percent: 100)[0] == 200 * 16.0 / 144)
    for box in [
      Box(x: 40, y: 0, width: 5, height: 5), Box(x: -9, y: 0, width: 5, height: 5),
      Box(x: .nan, y: 0, width: 5, height: 5), Box(x: 0, y: 0, width: 0, height: 5),
      Box(x: 0, y: 0, width: .infinity, height: 5),
    ] {
      let error = #expect(throws: StageError.self) {
        try measure([Detection(box: box, score: 1)])
      }
      #expect(error?.code == "regionMeans.outside", "\(box)")
    }
  }

  @Test func `without a detection the frame fails`() {
    let error = #expect(throws: StageError.self) { try measure([]) }
    #expect(error?.code == "regionMeans.none")
  }
}

@Suite struct ResampleStageTests {
  private func context(_ milliseconds: Int64) -> StageContext {
    StageContext(
      frame: FrameID(track: 0, sequence: 0),
      timestamp: Timestamp(nanoseconds: milliseconds * 1_000_000))
  }

  private func red(_ value: Double) -> Scalars { Scalars([.init("red", value)]) }

  @Test func `the times are those of the frames`() throws {
    var stage = try Resample(options: ResampleOptions(rate: 10, windowSeconds: 2))
    _ = stage.process(red(0), context(0))
    let window = stage.process(red(4), context(400))
    #expect(window["red"] == Waveform(name: "red", rate: 10, samples: [0, 1, 2, 3, 4]))
    #expect(window.end == Timestamp(nanoseconds: 400_000_000))
    #expect(window["green"] == nil)
  }

  @Test func `a gap is named in the results, and other numbers begin another window`() throws {
    var stage = try Resample(options: ResampleOptions(rate: 10, windowSeconds: 2))
    _ = stage.process(red(0), context(0))
    let window = stage.process(red(4), context(620))
    #expect(
      window.facts == [
        .waveform(Waveform(name: "red", rate: 10, samples: [4])),
        .text(name: "began", text: "gap 620 ms"),
      ])
    let other = stage.process(Scalars([.init("blue", 1)]), context(700))
    #expect(other.waveforms == [Waveform(name: "blue", rate: 10, samples: [1])])
    #expect(other.began == "start")
    stage.reset()
    #expect(stage.process(red(9), context(0)).waveforms[0].samples == [9])
    #expect(stage.process(Scalars([]), context(5)).waveforms.isEmpty)
  }

  @Test func `a window is read back from its bytes`() throws {
    for end in [nil, Timestamp(nanoseconds: -5)] {
      let window = SignalWindow(
        waveforms: [Waveform(name: "red", rate: 30, samples: [1, .infinity, -0.5])], end: end,
        began: "gap 620 ms")
      #expect(try SignalWindow(decoding: window.encoded()) == window)
      #expect(throws: (any Error).self) {
        try SignalWindow(decoding: window.encoded().dropLast())
      }
      #expect(throws: (any Error).self) { try SignalWindow(decoding: window.encoded() + [0]) }
    }
  }
}

@Suite struct PulseStageTests {
  private func waveform(_ samples: [Double], rate: Double = 30) -> Waveform {
    Waveform(name: "pulse", rate: rate, samples: samples)
  }

  private func window(_ names: [String], count: Int) -> SignalWindow {
    SignalWindow(
      waveforms: names.map {
        Waveform(name: $0, rate: 30, samples: Array(repeating: 80, count: count))
      }, end: nil, began: "start")
  }

  @Test func `a window without the channels fails the frame and says which it has`() throws {
    let error = #expect(throws: StageError.self) {
      try PulseSignal(options: PulseSignalOptions(method: .pos))
        .process(window(["red", "mean"], count: 60), anyContext)
    }
    #expect(error?.code == "pulseSignal.channel")
    #expect(error?.message.contains("no channel 'green', it has 'red', 'mean'") == true)
  }

  @Test(arguments: PulseMethod.allCases)
  func `a constant picture has no pulse, and a short one neither`(method: PulseMethod) throws {
    for count in [0, 1, 20, 300] {
      let found = try PulseSignal(options: PulseSignalOptions(method: method))
        .process(window(["red", "green", "blue"], count: count), anyContext)
      #expect(found == waveform(Array(repeating: 0, count: count)))
    }
  }

  @Test func `a rate that the band does not fit into fails the frame`() throws {
    let stage = try Bandpass(options: BandpassOptions())
    for rate in [8.0, 0, -1, .nan, .infinity] {
      let error = #expect(throws: StageError.self) {
        try stage.process(waveform([1, 2, 3], rate: rate), anyContext)
      }
      #expect(error?.code == "bandpass.rate")
    }
    #expect(try stage.process(waveform([], rate: 8.5), anyContext).samples.isEmpty)
  }

  @Test func `without quality there is a quality and no number`() throws {
    let rate = try PulseRate(options: PulseRateOptions())
    let beats = try HeartVariability(options: PulseRateOptions())
    for samples in [[], [.nan], Array(repeating: 3, count: 600)] as [[Double]] {
      let nothing = Scalars([.init("quality", 0)])
      #expect(rate.process(waveform(samples), anyContext) == nothing)
      #expect(beats.process(waveform(samples), anyContext) == nothing)
    }
  }
}

/// The complete chain on drawn frames.
@Suite struct PulseRunTests {
  private final class Listener: RunObserver {
    var frames: [FinishedFrame] = []

    func decided(_ line: DecisionLine) {}
    func finished(_ frame: FinishedFrame) { frames.append(frame) }
  }

  /// The facts of each frame.
  private func run(_ pipeline: Pipeline, workers: Int) throws -> [[ResultFact]] {
    let listener = Listener()
    _ = try PreparedRun(pipeline, bindings: [:], catalog: StageRegistry.builtIn)
      .run(RunOptions(workers: workers), observer: listener)
    return listener.frames.map { frame in
      frame.result.outcomes.flatMap { outcome in
        if case .facts(let facts) = outcome.content { facts } else { [ResultFact]() }
      }
    }
  }

  @Test func `the pulse of a fingertip is drawn over the image at 240 points a second`() throws {
    let camera = scene(frames: 300)
    let band = camera.fingertip().resample(rate: 30, windowSeconds: 6)
      .pulseSignal(.red).detrend().bandpass(low: 0.5, high: 4)
    let last = try #require(
      run(band.results("wave", precision: ["scalar": 0.00001]), workers: 0).last)
    let shapes = OverlayLayout(OverlayImage(width: 640, height: 480))
      .shapes(of: [OverlayContent(facts: last)])
    let lines = shapes.compactMap { shape -> [OverlayShape.Point]? in
      if case .line(let points, _) = shape.form { points } else { nil }
    }
    let line = try #require(lines.first)
    #expect(lines.count == 1)
    // Six seconds: 180 samples at 30 a second, and the points between them.
    #expect(line.count == 179 * 8 + 1)
    // 72 beats a minute are 7.2 in six seconds, each of which rises through the middle once.
    let middle = line.map(\.y).reduce(0, +) / Double(line.count)
    let beats = zip(line, line.dropFirst()).count { $0.y > middle && $1.y <= middle }
    #expect((6...8).contains(beats))
    // The same as a stage of a preview, which draws the result over each frame.
    let preview = camera.preview(of: band, id: "screen")
    _ = try run(preview, workers: 0)
  }

  private func scene(frames: Int, beatsPerMinute: Int = 72, fps: Int = 30) -> PipelineChain<Frame> {
    var options = SyntheticOptions(
      scene: .pulse, width: 32, height: 24, fps: fps, frames: frames, seed: beatsPerMinute)
    options.beatsPerMinute = beatsPerMinute
    return Pipeline.named("pulse").source(.synthetic(options))
  }

  private func rate(in facts: [ResultFact]) -> Double? {
    for case .scalar("bpm", let value) in facts { return value }
    return nil
  }

  @Test func `the drawn fingertip has its 72 a minute, whatever the workers`() throws {
    let frames = scene(frames: 300)
    let found = Pipeline.joining(frames, frames.findFingertip(), ports: ["frame", "finger"])
    let band = found.regionMeans().resample().pulseSignal(.red).detrend().bandpass()
    let pipeline = Pipeline.combining(
      band.pulseRate().results("rate"), band.heartVariability().results("beats"))
    let results = try [1, 2, 8].map { try run(pipeline, workers: $0) }
    #expect(results[0] == results[1] && results[0] == results[2])
    let rates = results[0].map { rate(in: $0) }
    // Six seconds say something; before that there is no number.
    #expect(rates.prefix(179).allSatisfy { $0 == nil })
    #expect(rates.suffix(60).allSatisfy { abs(($0 ?? 0) - 72) < 1 })
  }

  @Test func `20 rates are found in drawn frames, also if most frames are throttled`() throws {
    for index in 0..<20 {
      let rate = 40 + 10 * index
      let frames = scene(frames: 450, beatsPerMinute: rate, fps: [30, 60][index % 2])
      let seen = index % 4 == 0 ? frames.throttle(fps: 20) : frames
      let pipeline = seen.fingertip().resample().pulseSignal(index % 3 == 0 ? .green : .red)
        .detrend().bandpass().pulseRate().results()
      let last = try #require(run(pipeline, workers: 2).last)
      let found = try #require(self.rate(in: last), "\(rate): \(last)")
      #expect(abs(found - Double(rate)) < 1, "\(rate)")
    }
  }
}
