import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import Synchronization
import Testing

@testable import RetakeRuntime
@testable import RetakeTimePlane

@Suite struct MemoryBoundTests {
  /// Frames whose pixels are counted while they are in use.
  private final class CountedFrames: FrameReader, FrameSource {
    struct Count {
      var live = 0
      var most = 0
    }

    let frames: TinyFrames
    let hasOneChain: Bool
    /// The dimensions that the track claims to have, so that frames count as large.
    let sides: (width: Int, height: Int)
    let count = Locked(Count())

    init(_ frames: TinyFrames, hasOneChain: Bool, sides: (Int, Int) = (4, 2)) {
      self.frames = frames
      self.hasOneChain = hasOneChain
      self.sides = sides
    }

    var tracks: [TrackDescription] {
      frames.tracks.map {
        var track = $0
        (track.width, track.height) = sides
        return track
      }
    }
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

  private func source(_ frames: CountedFrames) -> PipelineChain<Frame> {
    let source = AnyStage(
      signature: StageSignature(
        kind: "counted", version: 1, role: .source, input: nil, output: .frame),
      options: .object([:]), body: .source(frames))
    return Pipeline.named("counted").source(source)
  }

  private func pipeline(_ frames: CountedFrames) -> Pipeline {
    source(frames)
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
      let (notes, _) = try source(frames).stage(Brightness()).sink(Nodes.sink())
        .noted(RunOptions(workers: workers, perturbation: 7))
      #expect(notes.frames.count == 900)
      let count = frames.count.withLock { $0 }
      #expect(count.live == 0, "\(workers) workers")
      #expect(count.most <= GraphPlan.readsMax, "\(workers) workers: \(count)")
    }
  }

  /// A thread that is stopped in the middle of a stage, until another thread has completed one.
  private final class StoppedThread: Sendable {
    private let hasStopped = Atomic(false)
    private let released = ThreadCondition()

    /// Stops the first worker that calls this; the time plane has its own thread.
    func pass(sequence: Int) {
      let isWorker = Thread.current.name?.hasPrefix("retake-worker") == true
      guard isWorker else { return released.signal() }
      // So early that stages are left for the other thread.
      guard sequence < 400, !hasStopped.exchange(true, ordering: .sequentiallyConsistent) else {
        return
      }
      released.wait()
    }
  }

  private struct Stopping: PureStage {
    static let kind = "stopping"
    let thread = StoppedThread()

    init() {}
    init(options: NoOptions) {}

    func process(_ frame: Frame, _ context: StageContext) -> Scalars {
      thread.pass(sequence: context.frame.sequence)
      return Scalars([.init("first", Double(frame.bytes(of: 0)[0]))])
    }
  }

  @Test(arguments: [true, false])
  func `while one thread stands still in a stage the other does not read on without bound`(
    hasOneChain: Bool
  ) throws {
    let frames = CountedFrames(.at(rate: 30, count: 900), hasOneChain: hasOneChain)
    let (notes, _) = try source(frames).stage(Stopping()).sink(Nodes.sink())
      .noted(RunOptions(workers: 2))
    #expect(notes.frames.count == 900)
    let count = frames.count.withLock { $0 }
    #expect(count.live == 0)
    #expect(count.most <= GraphPlan.readsMax, "\(count)")
  }

  @Test(arguments: RunOptions.Mode.virtual, [true, false])
  func `frames so large that few have room are read one after another`(
    mode: RunOptions.Mode, hasOneChain: Bool
  ) throws {
    for workers in [0, 1, 2, 4, 8] {
      // Gray: 60 MB.
      let frames = CountedFrames(
        .at(rate: 30, count: 120), hasOneChain: hasOneChain, sides: (10_000, 6_000))
      let options = RunOptions(mode: mode, workers: workers, perturbation: 3)
      var (notes, _) = try source(frames).stage(Brightness()).sink(Nodes.sink()).noted(options)
      #expect(notes.frames.count == 120)
      if mode == .everyFrame {
        // Without threads, the next frame is read when it is announced.
        let most = frames.count.withLock { $0.most }
        #expect(most == (workers == 0 ? 2 : 1), "\(workers) workers")
      }
      (notes, _) = try pipeline(frames).noted(options)
      #expect(notes.frames.count == 120)
      let count = frames.count.withLock { $0 }
      #expect(count.live == 0, "\(workers) workers")
      // The frame that was read ahead, three frames in a queue, a frame in a stage, later frames
      // that were decided but not reported yet, and the last frame that a chain read.
      #expect(count.most <= 10, "\(workers) workers: \(count)")
    }
  }

  @Test func `a smaller budget is shared out in the same way`() {
    let track = TrackDescription(
      track: 0, timeBase: TimeBase(1, 30), format: .gray, width: 1_024, height: 1_024,
      frameCount: 1)
    let windows = [64, 128, 512, 2_048].map { megabytes in
      RunOptions.automaticWindow(for: [track], budget: PixelBudget(bytesMax: megabytes << 20))
    }
    #expect(windows == [48, 48, 48, 48], "small frames need little of any budget")
    let large = TrackDescription(
      track: 0, timeBase: TimeBase(1, 30), format: .gray, width: 4_096, height: 4_096,
      frameCount: 1)
    let few = [64, 128, 512, 2_048].map { megabytes in
      RunOptions.automaticWindow(for: [large], budget: PixelBudget(bytesMax: megabytes << 20))
    }
    #expect(few == [3, 3, 5, 20])
  }

  @Test func `the largest frame of a track decides, not the first`() {
    var track = TrackDescription(
      track: 0, timeBase: TimeBase(1, 30), format: .i420, width: 320, height: 240, frameCount: 9)
    track.noteFrame(.i420, width: 16_384, height: 8_192)
    track.noteFrame(.i420, width: 640, height: 480)
    #expect(RunOptions.automaticWindow(for: [track]) == 1)
    #expect(RunOptions.windowOfResults(for: [track]) == 1)
  }

  @Test(
    arguments: [
      (320, 240, 56), (854, 480, 56), (1_280, 720, 36), (1_920, 1_080, 24), (3_840, 2_160, 6),
      (7_680, 4_320, 1), (16_384, 8_192, 1),
    ])
  func `small frames are computed further ahead than large ones`(
    width: Int, height: Int, window: Int
  ) {
    let track = TrackDescription(
      track: 0, timeBase: TimeBase(1, 30), format: .i420, width: width, height: height,
      frameCount: 1)
    #expect(RunOptions.automaticWindow(for: [track]) == window)
    // Each track has a frame in memory, however small the budget is.
    let many = Array(repeating: track, count: 40)
    #expect((1...18).contains(RunOptions.automaticWindow(for: many)))
    if width >= 1_920 { #expect(RunOptions.automaticWindow(for: many) == 1) }
  }
}
