import Retake
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime
import RetakeStages
import Testing

@testable import RetakeClock

/// The clock's nanoseconds are the engine's.
@Suite struct EngineTests {
  private struct Look: PureStage {
    static let kind = "look"

    init() {}
    init(options: NoOptions) {}

    func process(_ frame: Frame, _ context: StageContext) -> Scalars { Scalars([]) }
  }

  private final class Lines: RunObserver {
    /// When each frame arrived, and when the stage began to look at it.
    private(set) var arrived: [Moment] = []
    private(set) var started: [Moment] = []
    var wantsDecisions: Bool { true }

    func began(nodes: [RunNode]) {}
    func failed(_ failure: StageFailure) {}

    func finished(_ frame: FinishedFrame) {
      arrived.append(
        Moment(frame: frame.entry.id.sequence, nanoseconds: frame.arrivalNanoseconds))
    }

    func decided(_ line: DecisionLine) {
      guard line.kind == .start, line.node == "look", let frame = line.frame else { return }
      started.append(Moment(frame: frame.sequence, nanoseconds: line.time))
    }
  }

  struct Moment: Hashable { var frame: Int; var nanoseconds: Int64 }

  /// A stage of 45 ms that processes the newest frame of a camera at 30 frames a second, in the
  /// engine and as an app would write it.
  @Test func `frames arrive and are looked at when the engine says`() async throws {
    let lines = Lines()
    let pipeline = Pipeline.named("look")
      .source(.synthetic(SyntheticOptions(scene: .figures, width: 32, height: 32, frames: 60)))
      .stage(Look(), id: "look").cost(.fixed(.milliseconds(45)))
      .queue(capacity: 1, policy: .replace)
      .results("looks")
    _ = try PreparedRun(pipeline, catalog: StageRegistry.builtIn).run(
      RunOptions(mode: .simulate), observer: lines)
    let (captured, started) = (lines.arrived, lines.started)
    try #require(captured.count == 60)
    #expect(captured[1].nanoseconds == 33_333_333)
    #expect(started.count > 30 && started.count < 60)

    let (arrived, looked) = try await withVirtualTime { time in
      let instants = captured.map { VirtualClock.Instant(nanoseconds: $0.nanoseconds) }
      let all = time.frames(captured.map(\.frame), at: instants)
      let newest = time.frames(captured.map(\.frame), at: instants, buffering: .bufferingNewest(1))
      async let arrived = Self.moments(of: all, clock: time.clock, busy: .zero)
      let looked = try await Self.moments(of: newest, clock: time.clock, busy: .milliseconds(45))
      return (try await arrived, looked)
    }
    #expect(arrived == captured)
    #expect(looked == started)
  }

  private static func moments(
    of frames: AsyncStream<Int>, clock: VirtualClock, busy: Duration
  ) async throws -> [Moment] {
    var moments: [Moment] = []
    for await frame in frames {
      moments.append(Moment(frame: frame, nanoseconds: clock.now.nanoseconds))
      if busy > .zero { try await clock.sleep(for: busy) }
    }
    return moments
  }
}
