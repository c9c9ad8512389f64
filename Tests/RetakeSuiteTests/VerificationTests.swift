import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeReplay
import RetakeRuntime
import RetakeStages
import RetakeSuite
import Testing

/// A stage as it must not be: its result depends on when it runs.
private struct ReadsClock: PureStage {
  static let kind = "readsClock"
  /// Frames before this one are measured honestly.
  static let firstFrame = 5

  init() {}
  init(options: NoOptions) {}

  func process(_ input: Scalars, _ context: StageContext) -> Scalars {
    guard context.frame.sequence >= Self.firstFrame else { return input }
    return Scalars([.init("now", Double(ContinuousClock.now.hashValue % 1_000_000))])
  }
}

/// Its result depends on what ran before it on the same thread, in whatever order.
private struct CountsCalls: PureStage {
  static let kind = "countsCalls"
  let calls = Locked(0)

  init() {}
  init(options: NoOptions) {}

  func process(_ input: Frame, _ context: StageContext) -> Scalars {
    let count = calls.withLock { count in
      count += 1
      return count
    }
    return Scalars([.init("calls", Double(count))])
  }
}

@Suite struct VerificationTests {
  private let source = AnyStage.synthetic(
    SyntheticOptions(scene: .figures, width: 64, height: 48, frames: 16))

  private func verify(
    _ pipeline: Pipeline, mode: RunOptions.Mode = .lossless
  ) throws -> VerifyReport {
    try Verification(makeReplay: { condition in
      var options = RunOptions(mode: mode, workers: condition.workers)
      options.perturbation = condition.perturbation
      return try Replay(
        pipeline, reader: nil, catalog: StageRegistry.builtIn,
        request: Replay.Request(caseName: pipeline.name, options: options))
    }).run()
  }

  @Test func `an honest pipeline is the same under every condition`() throws {
    let report = try verify(
      Pipeline.named("honest").source(source).motion(threshold: 24)
        .cost(.fixed(.milliseconds(45))).queue(capacity: 3, policy: .dropNewest).results(),
      mode: .redecide)
    #expect(report.isDeterministic)
    #expect(report.firstDivergence == nil)
    #expect(report.frames == 16)
    #expect(report.variations.count == Verification.conditions.count)
    #expect(Set(report.variations.map(\.decisionDigest)) == [report.decisionDigest])
    #expect(Set(report.variations.map(\.resultDigest)) == [report.resultDigest])
    #expect(Set(Verification.conditions.map(\.workers)).isSuperset(of: [0, 1, 2, 4]))
  }

  @Test func `a stage that reads a clock is caught and named, with the frame`() throws {
    let report = try verify(
      Pipeline.named("impure").source(source).luminance().stage(ReadsClock(), id: "watch")
        .results())
    #expect(!report.isDeterministic)
    let divergence = try #require(report.firstDivergence)
    #expect(divergence.kind == .value)
    #expect(divergence.stage == "watch")
    #expect(divergence.frame == FrameID(track: 0, sequence: ReadsClock.firstFrame))
    #expect(divergence.message.contains("'watch'"))
  }

  @Test func `a stage behind the impure one is not accused`() throws {
    let report = try verify(
      Pipeline.named("behind").source(source).luminance().stage(ReadsClock(), id: "watch")
        .map("after") { (input: Scalars, _) in input }.results())
    #expect(report.variations.compactMap(\.divergence?.stage).allSatisfy { $0 == "watch" })
    #expect(!report.isDeterministic)
  }

  @Test func `shared state between calls is caught and named`() throws {
    let report = try verify(
      Pipeline.named("shared").source(source).stage(CountsCalls(), id: "counter").results())
    let divergence = try #require(report.firstDivergence)
    #expect(divergence.kind == .value)
    #expect(divergence.stage == "counter")
  }
}
