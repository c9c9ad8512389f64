import Foundation
import RetakeCore
import RetakeGraph
import RetakeTestSupport
import Testing

@testable import RetakeRuntime

/// A live run whose recorder shed frames: stages saw their pixels, and a reproduction does not.
@Suite struct MemoryGapTests {
  private static let shed: Set = [3, 4, 7]

  @Test func `a value that depends on a frame without pixels is not computed, and all others are`()
    throws
  {
    let again = try reproduce(Self.pipeline())
    #expect(again.failure == nil && again.differences == 0)
    // The brightness of a frame depends on that frame, its step also on the frame before, and the
    // count on every earlier frame.
    #expect(
      again.computed == [
        "bright": "yyy--yy-yyyy", "step": "yyy---y--yyy", "count": "yyy---------",
      ])
    #expect(again.different.isEmpty, "what was computed is what the live run computed")
  }

  @Test func `behind a gap a stage that computes otherwise is found`() throws {
    let again = try reproduce(Self.pipeline(extra: 1, from: 5))
    // The first step after a gap is not computed, so the fault of frame 5 is not found there.
    #expect(again.different == ["step 6", "step 9", "step 10", "step 11"])
  }

  @Test func `a gap ends after the calls that a stage remembers, and never if it remembers all`() {
    let one = stage(0, .calls(1)), two = stage(1, .calls(2)), all = stage(2, .allCalls)
    var gaps = MemoryGaps()
    for stage in [one, two, all, stage(3, .none)] {
      #expect(gaps.isWhole(stage))
      gaps.skipped(stage)
      gaps.skipped(stage)
    }
    let start = (one: gaps.isWhole(one), none: gaps.isWhole(stage(3, .none)))
    #expect(!start.one && start.none)
    var whole: [String] = []
    for _ in 0..<3 {
      for stage in [one, two, all] { gaps.returned(stage) }
      whole.append([one, two, all].map { gaps.isWhole($0) ? "y" : "-" }.joined())
    }
    #expect(whole == ["y--", "yy-", "yy-"])
    #expect(gaps.canBeWhole(two) && !gaps.canBeWhole(all))
    // A swap replaces the stage, and the new stage has missed no call.
    #expect(gaps.isWhole(MemoryGaps.Stage(node: 2, version: 1, memory: .allCalls)))
    // A second gap begins the count again.
    gaps.skipped(two)
    gaps.returned(two)
    gaps.skipped(two)
    gaps.returned(two)
    #expect(!gaps.isWhole(two))
  }

  private func stage(_ node: Int, _ memory: StageMemory) -> MemoryGaps.Stage {
    MemoryGaps.Stage(node: node, version: 0, memory: memory)
  }

  // MARK: The run

  private struct Again {
    var failure: RuntimeError?
    var differences = 0
    /// By sink: whether the value of each frame was computed.
    var computed: [String: String] = [:]
    /// Values that were computed and differ, as `SINK SEQUENCE`.
    var different: [String] = []
  }

  /// Runs the pipeline live over 12 frames, and another one on its record.
  private func reproduce(_ other: Pipeline) throws -> Again {
    let delivered = DispatchSemaphore(value: 0)
    let pipeline = Self.pipeline { delivered.signal() }
    var frames = ManyTracks(readers: [.at(rate: 1_000, count: 12)])
    let kept = KeptRun()
    let session = try LiveSession(
      pipeline, tracks: frames.live, catalog: StageRegistry(), options: LiveOptions(), tap: kept)
    for sequence in 0..<12 {
      session.push(try frames.frame(FrameID(track: 0, sequence: sequence)))
      // One at a time, so that no queue drops a frame, however busy the machine is.
      for _ in 0..<3 { delivered.wait() }
    }
    #expect(try session.finish().headline.delivered == 12)
    frames.readers[0].shed = Self.shed
    let run = try Reproduced(
      other, frames: frames, origin: kept.kept.facts?.originNanoseconds ?? 0,
      events: kept.kept.events)
    #expect(run.decisions == kept.kept.decisions)
    var again = Again(failure: run.failure, differences: run.differences)
    for (one, live) in zip(run.results, kept.kept.results) {
      for (place, outcome) in one.frame.result.outcomes.enumerated() {
        again.computed[outcome.sink, default: ""] += one.isComputed[place] ? "y" : "-"
        guard one.isComputed[place], outcome != live.frame.result.outcomes[place] else { continue }
        again.different.append("\(outcome.sink) \(one.frame.result.id.sequence)")
      }
    }
    return again
  }

  private static func pipeline(
    extra: Int = 0, from first: Int = 0, _ delivered: @escaping @Sendable () -> Void = {}
  ) -> Pipeline {
    func sink(_ id: String) -> PipelineNode {
      PipelineNode(
        id: id,
        stage: AnyStage(
          signature: StageSignature(
            kind: "results", version: 1, role: .sink, input: nil, output: nil),
          options: .object([:]), body: .sink { _ in delivered() }))
    }
    return Pipeline(
      [
        PipelineNode(id: "camera", stage: .pushed(track: 0)),
        .stage("sum", AnyStage(Brightness())), .stage("last", AnyStage(Step(extra, from: first))),
        .stage("all", AnyStage(Counter())), sink("bright"), sink("step"), sink("count"),
      ], ["camera → sum → bright", "sum → last → step", "sum → all → count"])
  }
}

/// The change of the brightness since the frame before.
private struct Step: StatefulStage, ShortMemory {
  static let kind = "step"
  static let callsRemembered = 1
  struct Options: StageOptions {
    var extra = 0
    var first = 0
  }
  let options: Options
  private var last: Double?

  init(_ extra: Int, from first: Int) { options = Options(extra: extra, first: first) }
  init(options: Options) { self.options = options }

  mutating func process(_ input: Scalars, _ context: StageContext) -> Scalars {
    let sum = input["sum"] ?? 0
    defer { last = sum }
    let wrong = context.frame.sequence >= options.first ? Double(options.extra) : 0
    return Scalars([.init("step", sum - (last ?? sum) + wrong)])
  }

  mutating func reset() { last = nil }
}
