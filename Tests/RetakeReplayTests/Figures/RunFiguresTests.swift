import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTimePlane
import Testing

@testable import RetakeReplay
@testable import RetakeRuntime

@Suite struct RunFiguresTests {
  private func totals(
    _ pipeline: Pipeline, frames: Int = 12, workers: Int = 2, costs: RunCosts = .declared
  ) throws -> (figures: RunFigures.Totals, notes: Notes, summary: RunSummary) {
    let replay = try Samples.replay(pipeline, reader: StepFrames(count: frames)) {
      $0.options = RunOptions(mode: .simulate, workers: workers)
      $0.options.costs = costs
    }
    let figures = replay.makeFigures()
    let notes = Notes()
    let summary = try replay.run(observers: [figures, notes])
    return (figures.totals, notes, summary)
  }

  private static func line(
    cost: Int, capacity: Int = 3, policy: EdgePolicy = .dropNewest
  ) -> Pipeline {
    Pipeline.named("line").source(.session()).stage(Growth())
      .cost(.fixed(.milliseconds(cost))).queue(capacity: capacity, policy: policy)
      .sink(.numbers, id: "numbers")
  }

  /// Frames at 0, 33.333333, 66.666667, 100 ms; one server of 45 ms: finished at 45, 90, 135, 180.
  @Test func `latency is from the arrival to the primary sink, to the nanosecond`() throws {
    let figures = try totals(Self.line(cost: 45), frames: 4).figures
    let expected: [Int64] = [45_000_000, 56_666_667, 68_333_333, 80_000_000]
    #expect(
      figures.latency
        == .init(
          p50Nanoseconds: expected[1], p95Nanoseconds: expected[3], p99Nanoseconds: expected[3],
          maxNanoseconds: expected[3]))
    #expect(figures.frames.delivered == 4)
    // At 100 ms, frame 3 arrives after frame 1 has left (90) and while frame 2 is served.
    #expect(figures.framesAliveMax == 2)
    #expect(figures.bytesAliveMax == 2 * 16 * 8)
    #expect(figures.stalls == 0 && figures.blockedNanoseconds == 0)
  }

  /// A body of 100 ms and one waiting place: 0 is served until 100, 1 waits, 2 is dropped. At 100
  /// ms, 1 is served before 3 arrives and waits.
  @Test func `what a full queue drops behind the source is a stall, and lives for an instant`()
    throws
  {
    let (figures, notes, summary) = try totals(Self.line(cost: 100, capacity: 1), frames: 5)
    #expect(notes.lines.filter { $0.kind == .drop }.map(\.frame?.sequence) == [2, 4])
    #expect(figures.stalls == 2)
    #expect(figures.frames == summary.frames)
    #expect(figures.framesAliveMax == 3)
  }

  @Test func `a source that cannot hand on loses frames before capture`() throws {
    let pipeline = Self.line(cost: 100, capacity: 1, policy: .block)
    let (figures, _, summary) = try totals(pipeline, frames: 5)
    #expect(figures.lostBeforeCapture == 2 && summary.lostBeforeCapture == 2)
    #expect(figures.stalls == 2)
    #expect(figures.frames.captured == 3)
  }

  @Test func `the losses alongside what was captured are of the same source`() throws {
    let cameras: [(id: String, track: Int, cost: Int64)] = [("front", 0, 100), ("back", 1, 400)]
    let nodes = cameras.flatMap { camera in
      [
        PipelineNode(id: camera.id, stage: .session(track: camera.track)),
        PipelineNode(
          id: "\(camera.id)-growth", stage: AnyStage(Growth()),
          cost: .fixed(.milliseconds(camera.cost))),
        PipelineNode(id: "\(camera.id)-numbers", stage: .numbers),
      ]
    }
    let edges = cameras.flatMap { camera in
      [
        PipelineEdge(from: camera.id, to: "\(camera.id)-growth", capacity: 1, policy: .block),
        PipelineEdge(from: "\(camera.id)-growth", to: "\(camera.id)-numbers"),
      ]
    }
    let replay = try Samples.replay(
      Pipeline(name: "pair", nodes: nodes, edges: edges), reader: StepFrames(numbers: [0, 1])
    ) { $0.options = RunOptions(mode: .simulate, workers: 2) }
    let (figures, notes) = (replay.makeFigures(), Notes())
    let summary = try replay.run(observers: [figures, notes])
    // The primary sink is the last one by its ID.
    let lost = notes.lines.filter { $0.kind == .lost }
    let ofFront = lost.count { $0.node == "front" }
    #expect(ofFront > 0 && lost.count > 2 * ofFront)
    #expect(summary.lostBeforeCapture == ofFront && figures.totals.lostBeforeCapture == ofFront)
    #expect(summary.frames.captured + summary.lostBeforeCapture == 12)
    #expect(summary.lostBySource == ["front": ofFront, "back": lost.count - ofFront])
    #expect(figures.totals.stalls == lost.count)
  }

  /// Growth has no cost, its successor has a cost of 100 ms and one place: frame 0 is served, 1
  /// waits, 2 is kept by Growth from 66.666667 to 100 ms, and so on.
  @Test func `senders that wait for room are blocked so long`() throws {
    let pipeline = Pipeline.named("blocked").source(.session()).stage(Growth())
      .queue(capacity: 3, policy: .dropNewest).stage(Brief()).cost(.fixed(.milliseconds(100)))
      .queue(capacity: 1).sink(.numbers, id: "numbers")
    let (figures, notes, _) = try totals(pipeline, frames: 3)
    #expect(notes.lines.filter { [.block, .unblock].contains($0.kind) }.count == 2)
    #expect(figures.blockedNanoseconds == 100_000_000 - 66_666_667)
    #expect(figures.stalls == 0)
  }

  @Test func `nothing delivered has no latency`() throws {
    let figures = try totals(Self.line(cost: 45), frames: 0).figures
    #expect(figures.latency == nil)
    #expect(figures == RunFigures.Totals())
  }

  @Test(arguments: [0, 1, 2, 4, 8])
  func `figures are the same for any number of workers, and as a plain count finds them`(
    workers: Int
  ) throws {
    for capacity in [1, 3, 7] {
      for policy in EdgePolicy.allCases {
        let pipeline = Self.line(
          cost: 61, capacity: policy == .replace ? 1 : capacity, policy: policy)
        let (figures, notes, summary) = try totals(pipeline, frames: 60, workers: workers)
        #expect(figures.frames == summary.frames)
        #expect(figures.lostBeforeCapture == summary.lostBeforeCapture)
        #expect(figures.framesAliveMax == Self.aliveMax(notes.lines))
        let stalls = notes.lines.count { $0.kind == .lost || $0.kind == .drop }
        #expect(figures.stalls == stalls)
      }
    }
  }

  /// Computed from the lines alone: +1 at a frame's first line, −1 at its last line, at its sink.
  private static func aliveMax(_ lines: [DecisionLine]) -> Int {
    let named = lines.filter { $0.kind != .lost }
    var most = 0
    for index in named.indices {
      let before = Set(named[...index].compactMap(\.frame))
      let after = Set(named[index...].compactMap(\.frame))
      most = max(most, before.intersection(after).count)
    }
    return most
  }

  @Test func `a late word about a frame that is finished does not wake it`() {
    let figures = RunFigures(primarySink: "out", frameBytes: [0: 10])
    figures.began(nodes: [
      RunNode(id: "camera", kind: "session", role: .source, inputs: []),
      RunNode(id: "out", kind: "results", role: .sink, inputs: ["camera"]),
    ])
    for sequence in 0..<10_000 {
      let id = FrameID(track: 0, sequence: sequence)
      let time = Int64(sequence) * 10
      figures.decided(DecisionLine(time: time, node: "out", frame: id, kind: .deliver))
      figures.finished(
        FinishedFrame(
          entry: FrameEntry(id: id, pts: nil, timestamp: .zero), arrivalNanoseconds: time - 3,
          result: FrameResult(
            id: id, pts: nil, outcomes: [SinkOutcome(sink: "out", content: .facts([]))]),
          classNames: [], digests: []))
      figures.decided(DecisionLine(time: time, node: "join", frame: id, kind: .late))
    }
    #expect(figures.totals.framesAliveMax == 1)
    #expect(figures.totals.bytesAliveMax == 10)
    #expect(figures.totals.latency?.maxNanoseconds == 3)
  }
}

/// Passes its input on.
struct Brief: PureStage {
  static let kind = "brief"

  init() {}
  init(options: NoOptions) {}

  func process(_ input: Scalars, _ context: StageContext) -> Scalars { input }
}
