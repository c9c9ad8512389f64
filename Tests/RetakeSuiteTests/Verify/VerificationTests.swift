import Retake
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeReplay
import RetakeRuntime
import RetakeStages
import RetakeTestProjects
import Testing

@testable import RetakeSuite

/// An incorrect stage: its result depends on when it runs.
private struct ReadsClock: PureStage {
  static let kind = "readsClock"
  /// Frames before this one are measured correctly.
  static let firstFrame = 5

  init() {}
  init(options: NoOptions) {}

  func process(_ input: Scalars, _ context: StageContext) -> Scalars {
    guard context.frame.sequence >= Self.firstFrame else { return input }
    return Scalars([.init("now", Double(ContinuousClock.now.hashValue % 1_000_000))])
  }
}

/// Its result depends on the calls that ran before it on the same thread, in any order.
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

/// Its result is its input.
private struct Same: PureStage {
  static let kind = "same"

  init() {}
  init(options: NoOptions) {}

  func process(_ input: Scalars, _ context: StageContext) -> Scalars { input }
}

/// Ends the run at the fourth frame, if `isFine` is false.
private struct GivesUp: PureStage {
  static let kind = "gives-up"
  var isFine = false

  init(isFine: Bool) { self.isFine = isFine }
  init(options: NoOptions) {}

  func process(_ input: Scalars, _ context: StageContext) throws -> Scalars {
    guard isFine || context.frame.sequence < 3 else {
      throw StageError(code: "gives-up.now", message: "no more", severity: .unrecoverable)
    }
    return input
  }
}

/// Its result depends on the bytes between the rows of a decoded image.
private struct ReadsPadding: PureStage {
  static let kind = "readsPadding"

  init() {}
  init(options: NoOptions) {}

  func process(_ input: Frame, _ context: StageContext) -> Scalars {
    let plane = input.storage.planes[0]
    let padding = (input.width..<plane.stride).map { Int(plane.base[$0]) }
    return Scalars([.init("padding", Double(padding.reduce(0, +)))])
  }
}

@Suite struct VerificationTests {
  private let source = AnyStage.synthetic(
    SyntheticOptions(scene: .figures, width: 64, height: 48, frames: 16))

  private func verify(
    _ pipeline: Pipeline, mode: RunOptions.Mode = .everyFrame, processes: NewProcessRuns? = nil
  ) throws -> VerifyReport {
    try Verification(
      newProcesses: processes,
      makeReplay: { condition in
        var options = RunOptions(mode: mode, workers: condition.workers)
        options.perturbation = condition.delaySeed
        options.callsBatches = condition.callsBatches
        return try Replay(
          pipeline, reader: nil, catalog: StageRegistry.builtIn,
          request: Replay.Request(caseName: pipeline.name, options: options))
      }
    ).run()
  }

  @Test func `an honest pipeline is the same under every condition`() throws {
    let report = try verify(
      Pipeline.named("honest").source(source).motion(threshold: 24)
        .cost(.fixed(.milliseconds(45))).queue(capacity: 3, policy: .dropNewest).results(),
      mode: .simulate)
    #expect(report.outcome == .deterministic)
    #expect(report.firstDivergence == nil)
    #expect(report.frames == 16)
    #expect(report.variations.count == VerifyCondition.inProcess.count)
    #expect(Set(report.variations.map(\.decisionDigest)) == [report.decisionDigest])
    #expect(Set(report.variations.map(\.resultDigest)) == [report.resultDigest])
    #expect(Set(report.variations.map(\.condition.workers)) == [0, 1, 2, 4, 8])
  }

  @Test func `a stage whose batches have other values is caught and named`() throws {
    func report(_ error: (any PipelineValue)?) throws -> VerifyReport {
      var stage = AnyStage(Same())
      stage.batchBody = { calls in calls.map { .success(error ?? $0.input) } }
      let same: PipelineChain<Scalars> = Pipeline.named("batch").source(source).luminance()
        .appending(stage, id: "same")
      return try verify(
        same.queue(capacity: 4).batch(max: 4, wait: .seconds(1)).results(), mode: .simulate)
    }
    let honest = try report(nil)
    #expect(honest.outcome == .deterministic)
    #expect(honest.variations.last?.condition == .oneByOne)
    let divergence = try #require(try report(Scalars([])).firstDivergence)
    #expect(divergence.kind == .value && divergence.stage == "same")
  }

  @Test func `a stage that reads a clock is caught and named, with the frame`() throws {
    let report = try verify(
      Pipeline.named("impure").source(source).luminance().stage(ReadsClock(), id: "watch")
        .results())
    #expect(report.outcome == .notDeterministic)
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
    #expect(report.outcome == .notDeterministic)
  }

  @Test func `shared state between calls is caught and named`() throws {
    let report = try verify(
      Pipeline.named("shared").source(source).stage(CountsCalls(), id: "counter").results())
    let divergence = try #require(report.firstDivergence)
    #expect(divergence.kind == .value)
    #expect(divergence.stage == "counter")
  }

  @Test func `bytes that decoders leave unwritten are caught, and memory is suspected`() throws {
    let fixture = try ProjectFixture()
    try fixture.record("yard", frames: 4)
    let session = fixture.folder.file("Recordings/yard").path
    var project = try fixture.project()
    project.pipelines = [
      Pipeline.named("padded").source(.session()).stage(ReadsPadding(), id: "sum").results()
    ]
    let report = try Verification(makeReplay: { condition in
      var job = ReplayJob(
        project: project,
        definition: CaseDefinition(name: "padded", pipeline: "example:padded"),
        session: session)
      job.options = RunOptions().under(condition)
      return try job.makeReplay()
    }).run()
    let differing = report.variations.filter { $0.outcome == .different }
    #expect(differing.map(\.condition.memory) == [.poisonedFrames])
    #expect(report.firstDivergence?.stage == "sum")
    #expect(report.suspect == .memory)
    #expect(report.advice?.contains("'sum'") == true)
  }

  /// The cause of the failure that a script in the place of a new process makes.
  private func failure(
    of script: String, secondsMin: Double? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> String {
    var processes = NewProcessRuns(executable: "/bin/sh", arguments: { _, _ in ["-c", script] })
    if let secondsMin { processes.secondsMin = secondsMin }
    let error = #expect(throws: SuiteError.self, sourceLocation: sourceLocation) {
      try verify(Pipeline.named("honest").source(source).results(), processes: processes)
    }
    let said = try #require(error, sourceLocation: sourceLocation)
    #expect(said.code == "suite.verify.infrastructure", sourceLocation: sourceLocation)
    #expect(said.message.contains(VerifyCondition.baseline.name), sourceLocation: sourceLocation)
    return try #require(said.cause, sourceLocation: sourceLocation)
  }

  /// The runs before it in the order of the conditions are not halted.
  @Test(arguments: [VerifyCondition.first] + VerifyCondition.inProcess)
  func `a run that a stage ends is an error under every condition`(
    halted: VerifyCondition
  ) throws {
    #expect {
      _ = try Verification(makeReplay: { condition in
        let pipeline = Pipeline.named("short").source(source).luminance()
          .stage(GivesUp(isFine: condition != halted), id: "short").results()
        return try Replay(
          pipeline, reader: nil, catalog: StageRegistry.builtIn,
          request: Replay.Request(
            caseName: pipeline.name, options: RunOptions(workers: condition.workers)))
      }).run()
    } throws: { error in
      let error = error as? SuiteError
      return error?.code == "suite.run.halted"
        && error?.message.hasPrefix("the run with \(halted.name) was halted: ") == true
        && error?.message.contains("[gives-up.now]") == true
    }
  }

  @Test func `a process that hangs or dies is infrastructure's failure, not a verdict`() throws {
    // The limit grows with the time that the run in this process took, on a busy machine too.
    let hung = try failure(of: "tail -f /dev/null", secondsMin: 0.2)
    #expect(hung.wholeMatch(of: /it did not end within [0-9]+ s/) != nil, "\(hung)")
    // With the usual limit, because a busy machine may be slow to start a shell.
    #expect(
      try failure(of: "echo alas; kill -SEGV $$") == "signal 11 ended it; its last words: alas")
    #expect(try failure(of: "exit 2") == "it ended with exit status 2")
  }

  @Test func `a process that leaves no trace is an error`() throws {
    let processes = NewProcessRuns(executable: "/bin/sh", arguments: { _, _ in ["-c", "exit 0"] })
    #expect {
      _ = try verify(Pipeline.named("honest").source(source).results(), processes: processes)
    } throws: { ($0 as? SuiteError)?.code == "suite.verify.infrastructure" }
  }

  @Test func `a run that waits for a process can be interrupted`() throws {
    let processes = NewProcessRuns(
      executable: "/bin/sh", arguments: { _, _ in ["-c", "tail -f /dev/null"] },
      isInterrupted: { true })
    #expect {
      _ = try verify(Pipeline.named("honest").source(source).results(), processes: processes)
    } throws: { error in
      if case RuntimeError.interrupted = error { true } else { false }
    }
  }
}
