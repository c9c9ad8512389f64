import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime
import Testing

@Suite struct BrokenRunTests {
  private struct Unreadable: Error, CustomStringConvertible {
    var description: String { "the bytes differ" }
  }

  /// Frames, some of which cannot be read.
  private struct BadFrames: FrameReader, FrameSource {
    var frames: TinyFrames
    var bad: Set<Int>

    var tracks: [TrackDescription] { frames.tracks }
    func entries(of track: Int, sequences: Range<Int>) throws -> [FrameEntry] {
      try frames.entries(of: track, sequences: sequences)
    }
    func chain(of id: FrameID) -> Int { 0 }
    func frame(_ id: FrameID) throws -> Frame {
      guard !bad.contains(id.sequence) else { throw Unreadable() }
      return try frames.frame(id)
    }
    func open() throws -> any FrameReader { self }
    var source: AnyStage {
      AnyStage(
        signature: StageSignature(
          kind: "bad", version: 1, role: .source, input: nil, output: .frame),
        options: .object([:]), body: .source(self))
    }
  }

  private func pipeline(_ frames: BadFrames) -> Pipeline {
    Pipeline.named("bad").source(frames.source).stage(Brightness())
      .cost(.fixed(.milliseconds(45))).queue(capacity: 3, policy: .dropNewest)
      .stage(Counter()).sink(Nodes.sink())
  }

  @Test(arguments: [0, 1, 2, 4, 8])
  func `a frame that cannot be read ends the run and is named`(workers: Int) throws {
    let broken = pipeline(BadFrames(frames: .at(rate: 30, count: 40), bad: [17]))
    let expected = RuntimeError.frameUnreadable(
      FrameID(track: 0, sequence: 17), cause: "the bytes differ", advice: nil)
    #expect(throws: expected) {
      try broken.noted(RunOptions(mode: .everyFrame, workers: workers))
    }
  }

  @Test(arguments: [0, 1, 2, 4, 8], [nil, 1, 2, 3])
  func `of several frames that cannot be read the one captured first is named`(
    workers: Int, delays: UInt64?
  ) throws {
    let broken = Pipeline.named("bad").source(
      BadFrames(frames: .at(rate: 30, count: 40), bad: [9, 10, 11, 30]).source
    ).stage(Brightness()).stage(Fragile(failing: [3])).stage(Counter()).sink(Nodes.sink())
    let expected = RuntimeError.frameUnreadable(
      FrameID(track: 0, sequence: 9), cause: "the bytes differ", advice: nil)
    #expect(throws: expected) {
      try broken.noted(RunOptions(mode: .everyFrame, workers: workers, perturbation: delays))
    }
  }

  @Test(arguments: [0, 1, 2, 4, 8])
  func `a frame that is dropped before anybody needs it need not be readable`(
    workers: Int
  ) throws {
    let lucky = pipeline(BadFrames(frames: .at(rate: 30, count: 40), bad: [12, 16, 20]))
    let (notes, _) = try lucky.noted(RunOptions(mode: .simulate, workers: workers))
    #expect(notes.sequences("drop").prefix(3) == [12, 16, 20])
  }

  @Test(arguments: [0, 1, 4], [0, 1, 57])
  func `an interrupted run ends with that error`(
    workers: Int, after: Int
  ) throws {
    let frames = BadFrames(frames: .at(rate: 30, count: 100), bad: [])
    let calls = Locked(0)
    let isInterrupted: @Sendable () -> Bool = {
      calls.withLock {
        $0 += 1
        return $0 > after
      }
    }
    #expect(throws: RuntimeError.interrupted) {
      try pipeline(frames).noted(
        RunOptions(mode: .everyFrame, workers: workers, isInterrupted: isInterrupted))
    }
  }

  @Test func `an observer that throws ends the run with its own error`() throws {
    final class Fussy: RunObserver {
      var count = 0
      func finished(_ frame: FinishedFrame) throws {
        count += 1
        if count == 5 { throw Unreadable() }
      }
    }
    let observer = Fussy()
    let run = try PreparedRun(
      pipeline(BadFrames(frames: .at(rate: 30, count: 40), bad: [])), catalog: StageRegistry())
    #expect(throws: Unreadable.self) {
      try run.run(RunOptions(workers: 4), observer: observer)
    }
    #expect(observer.count == 5)
  }

  @Test func `a prepared run can be run again`() throws {
    let run = try PreparedRun(
      pipeline(BadFrames(frames: .at(rate: 30, count: 40), bad: [])), catalog: StageRegistry())
    let first = try run.run(RunOptions(mode: .simulate), observer: Notes())
    let second = try run.run(RunOptions(mode: .simulate), observer: Notes())
    #expect(first == second)
  }

  @Test(arguments: [Int64.min, -(1 << 61) - 1, (1 << 61) + 1, .max])
  func `a frame with an impossible time is named before anything runs`(time: Int64) throws {
    let frames = BadFrames(frames: TinyFrames(times: [0, 1], arrivals: [0, time]), bad: [])
    let expected = RuntimeError.timeOutOfRange(
      FrameID(track: 0, sequence: 1), nanoseconds: time)
    for mode in RunOptions.Mode.virtual {
      #expect(throws: expected) { try pipeline(frames).noted(RunOptions(mode: mode)) }
    }
  }

  @Test(arguments: [-1, 257])
  func `impossible numbers of workers are refused`(workers: Int) throws {
    let frames = BadFrames(frames: .at(rate: 30, count: 1), bad: [])
    #expect(throws: RuntimeError.self) {
      try pipeline(frames).noted(RunOptions(workers: workers))
    }
    #expect(throws: RuntimeError.self) {
      try pipeline(frames).noted(RunOptions(window: workers < 0 ? 0 : 4_097))
    }
  }
}
