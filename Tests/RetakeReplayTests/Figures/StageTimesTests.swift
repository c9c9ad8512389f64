import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTimePlane
import Testing

@testable import RetakeReplay
@testable import RetakeRuntime

@Suite struct StageTimesTests {
  /// A clock that is read twice for each body: the first body lasts a step, each later body a step
  /// longer.
  private final class Clock: Sendable {
    private let step: Int64
    private let state = Locked((reads: Int64(0), now: Int64(0)))

    init(step: Int64) { self.step = step }

    func read() -> Int64 {
      state.withLock { state in
        defer { state.reads += 1 }
        if !state.reads.isMultiple(of: 2) { state.now += (state.reads + 1) / 2 * step }
        return state.now
      }
    }
  }

  private func run(
    _ pipeline: Pipeline, frames: Int, mode: RunOptions.Mode = .everyFrame, step: Int64 = 1_000,
    isMeasured: Bool = true
  ) throws -> (summary: RunSummary, times: StageTimes.Totals?) {
    let clock = Clock(step: step)
    let times = StageTimes()
    let summary = try Samples.replay(pipeline, reader: StepFrames(count: frames)) {
      $0.options = RunOptions(mode: mode, workers: 1)
      if isMeasured { $0.options.costs.meter = CostMeter { clock.read() } }
    }.run(observers: [times])
    return (summary, times.totals)
  }

  private static let line = Pipeline.named("line").source(.session()).stage(Growth())
    .sink(.numbers, id: "numbers")

  @Test func `the times of a stage are the mean and the nearest ranks of its bodies`() throws {
    let times = try #require(try run(Self.line, frames: 40).times)
    #expect(times.frames.count == 40)
    #expect(times.frames.meanNanoseconds == 20_500 && times.frames.p50Nanoseconds == 20_000)
    #expect(times.frames.p99Nanoseconds == 40_000 && times.frames.maxNanoseconds == 40_000)
    #expect(times.stages == [.init(node: "growth", times: times.frames)])
  }

  @Test(arguments: RunOptions.Mode.virtual)
  func `a frame takes as long as all its stages together`(mode: RunOptions.Mode) throws {
    let pipeline = Pipeline.named("two").source(.session()).stage(Growth()).stage(Brief())
      .sink(.numbers, id: "numbers")
    let times = try #require(try run(pipeline, frames: 10, mode: mode).times)
    #expect(times.stages.map(\.node) == ["growth", "brief"])
    #expect(times.stages.map(\.times.count) == [10, 10])
    #expect(times.frames.count == 10)
    // Twenty bodies of 1 to 20 microseconds.
    let sum = times.stages.map(\.times.meanNanoseconds).reduce(0, +)
    #expect(sum == 21_000 && times.frames.meanNanoseconds == 21_000)
    #expect(times.frames.maxNanoseconds > times.stages.map(\.times.maxNanoseconds).max() ?? 0)
  }

  /// Bodies of 50, 100, 150, 200 and 250 ms with one waiting place, and a frame each 33.3 ms: 0, 1,
  /// 2, 5 and 9 are served.
  @Test func `frames that reach no stage are not counted`() throws {
    let pipeline = Pipeline.named("slow").source(.session()).stage(Growth())
      .queue(capacity: 1, policy: .dropNewest).sink(.numbers, id: "numbers")
    let (summary, found) = try run(pipeline, frames: 10, mode: .simulate, step: 50_000_000)
    #expect(summary.frames.delivered == 5 && summary.frames.droppedTotal == 5)
    let times = try #require(found)
    #expect(times.frames.count == 5 && times.frames.meanNanoseconds == 150_000_000)
  }

  @Test func `a run that measures nothing has no times`() throws {
    #expect(try run(Self.line, frames: 4, isMeasured: false).times == nil)
    #expect(try run(Self.line, frames: 0).times == nil)
  }
}
