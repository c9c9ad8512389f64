import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime
import Testing

@Suite struct MemoryBoundTests {
  /// Frames whose pixels are counted while somebody holds them.
  private final class CountedFrames: FrameReader, FrameSource {
    struct Count {
      var live = 0
      var most = 0
    }

    let frames: TinyFrames
    let hasOneChain: Bool
    let count = Locked(Count())

    init(_ frames: TinyFrames, hasOneChain: Bool) {
      self.frames = frames
      self.hasOneChain = hasOneChain
    }

    var tracks: [TrackDescription] { frames.tracks }
    func entries(of track: Int, sequences: Range<Int>) throws -> [FrameEntry] {
      try frames.entries(of: track, sequences: sequences)
    }
    func chain(of id: FrameID) -> Int { hasOneChain ? 0 : id.sequence }
    func open() throws -> any FrameReader { self }

    func frame(_ id: FrameID) throws -> Frame {
      var frame = try frames.frame(id)
      let held = frame.storage
      count.withLock {
        $0.live += 1
        $0.most = max($0.most, $0.live)
      }
      frame = Frame(
        id: id, format: frame.format, width: frame.width, height: frame.height,
        storage: FrameStorage(planes: held.planes) { [count] in
          withExtendedLifetime(held) {}
          count.withLock { $0.live -= 1 }
        })
      return frame
    }
  }

  private func pipeline(_ frames: CountedFrames) -> Pipeline {
    let source = AnyStage(
      signature: StageSignature(
        kind: "counted", version: 1, role: .source, input: nil, output: .frame),
      options: .object([:]), body: .source(frames))
    return Pipeline.named("counted").source(source)
      .stage(Brightness()).cost(.fixed(.milliseconds(45)))
      .queue(capacity: 3, policy: .dropOldest)
      .stage(Counter()).sink(Nodes.sink())
  }

  @Test(arguments: RunOptions.Mode.virtual, [true, false])
  func `pixels in memory are bounded by the window, not by the length of the session`(
    mode: RunOptions.Mode, hasOneChain: Bool
  ) throws {
    for workers in [0, 1, 2, 4, 8] {
      let frames = CountedFrames(.at(rate: 30, count: 600), hasOneChain: hasOneChain)
      let (notes, _) = try pipeline(frames).noted(
        RunOptions(mode: mode, workers: workers, window: 8))
      #expect(notes.frames.count == 600)
      let count = frames.count.withLock { $0 }
      #expect(count.live == 0, "\(workers) workers")
      #expect(count.most <= 60, "\(workers) workers: \(count)")
    }
  }

  @Test(arguments: [true, false])
  func `pixels that only pure stages read go as soon as those have them, however far ahead`(
    hasOneChain: Bool
  ) throws {
    for workers in [0, 1, 2, 4, 8] {
      let frames = CountedFrames(.at(rate: 30, count: 900), hasOneChain: hasOneChain)
      let source = AnyStage(
        signature: StageSignature(
          kind: "counted", version: 1, role: .source, input: nil, output: .frame),
        options: .object([:]), body: .source(frames))
      let pipeline = Pipeline.named("counted").source(source).stage(Brightness())
        .sink(Nodes.sink())
      let (notes, _) = try pipeline.noted(RunOptions(workers: workers, perturbation: 7))
      #expect(notes.frames.count == 900)
      let count = frames.count.withLock { $0 }
      #expect(count.live == 0, "\(workers) workers")
      // Of the 320 that are computed ahead: those that threads have in hand, and some more where a busy
      // machine stops a thread between a frame and its stage.
      #expect(count.most <= 100, "\(workers) workers: \(count)")
    }
  }

  @Test(arguments: [(320, 240, 56), (854, 480, 56), (1_280, 720, 36), (1_920, 1_080, 24)])
  func `small frames are computed further ahead than large ones`(
    width: Int, height: Int, window: Int
  ) {
    let track = TrackDescription(
      track: 0, timeBase: TimeBase(1, 30), format: .i420, width: width, height: height,
      frameCount: 1)
    #expect(RunOptions.automaticWindow(for: [track]) == window)
    #expect(RunOptions.automaticWindow(for: Array(repeating: track, count: 40)) == 24)
  }
}
