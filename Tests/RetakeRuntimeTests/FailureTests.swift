import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime
import Testing

@Suite struct FailureTests {
  private func pipeline(_ stage: Fragile, frames: Int = 6) -> Pipeline {
    Pipeline.named("fragile").source(Nodes.source(.at(rate: 30, count: frames)))
      .stage(Brightness()).stage(stage).stage(Counter()).sink(Nodes.sink())
  }

  @Test(arguments: [RunOptions.Mode.everyFrame, .simulate])
  func `a recoverable failure takes the frame's place and is reported once`(
    mode: RunOptions.Mode
  ) throws {
    let (notes, outcome) = try pipeline(Fragile(failing: [2, 4])).noted(RunOptions(mode: mode))
    #expect(notes.fates == "..x.x.")
    #expect(outcome.headline.failed == 2)
    #expect(outcome.failures.map(\.frame.sequence) == [2, 4])
    #expect(outcome.failures.allSatisfy { $0.code == "fragile.chosen" && $0.node == "fragile" })
    #expect(notes.sequences("fail") == [2, 4])
  }

  @Test func `the stage behind a failure never sees the frame`() throws {
    let (notes, _) = try pipeline(Fragile(failing: [2])).noted()
    let counts = notes.frames.compactMap { frame -> Double? in
      guard case .facts(let facts) = frame.result.outcomes[0].content,
        case .scalar(_, let value) = facts[1]
      else { return nil }
      return value
    }
    #expect(counts == [1, 2, 3, 4, 5])
  }

  @Test(arguments: [0, 1, 2, 4])
  func `an unrecoverable failure halts the run where it happened`(workers: Int) throws {
    let (notes, outcome) = try pipeline(Fragile(failing: [3], severity: .unrecoverable))
      .noted(RunOptions(mode: .everyFrame, workers: workers))
    #expect(notes.fates == "...-")
    #expect(notes.lines.last?.kind == .halt)
    #expect(outcome.halt?.frame.sequence == 3)
    #expect(outcome.headline.inFlight == 1)
    #expect(outcome.headline.isBalanced)
  }

  /// Blocks on the first frame until the gate is opened.
  private struct Late: PureStage {
    static let kind = "late"
    let gate: Gate

    init(gate: Gate) { self.gate = gate }
    init(options: NoOptions) { gate = Gate() }

    func process(_ frame: Frame, _ context: StageContext) -> Frame {
      if context.frame.sequence == 0 { gate.pass() }
      return frame
    }
  }

  /// Opens the gate when the last frame is decided, and interrupts the run when a value is
  /// reported, which is after the last event, because the first frame waits at the gate.
  private final class Interrupting: RunObserver {
    let wantsDecisions = true
    let gate = Gate()
    let isOver = Locked(false)
    private(set) var finishedCount = 0
    private var open: Int

    init(frames: Int) { open = frames }

    func decided(_ line: DecisionLine) {
      guard line.kind == .deliver else { return }
      open -= 1
      if open == 0 { gate.open() }
    }

    func finished(_ frame: FinishedFrame) {
      finishedCount += 1
      isOver.withLock { $0 = true }
    }
  }

  @Test func `a run is interrupted between values, even if everything is decided already`() throws {
    let observer = Interrupting(frames: 6)
    let isOver = observer.isOver
    let options = RunOptions(window: 16, isInterrupted: { isOver.withLock { $0 } })
    let pipeline = Pipeline.named("late").source(Nodes.source(.at(rate: 30, count: 6)))
      .stage(Late(gate: observer.gate)).stage(Brightness()).sink(Nodes.sink())
    #expect(throws: RuntimeError.interrupted) {
      try PreparedRun(pipeline, catalog: StageRegistry()).run(options, observer: observer)
    }
    #expect(observer.finishedCount == 1)
  }

  @Test(arguments: [StageError.Severity.recoverable, .unrecoverable])
  func `a stage's message comes with its frame and stage to outcome, frame and sink`(
    severity: StageError.Severity
  ) throws {
    let told = Locked<[StageFailure]>([])
    let values = Locked(0)
    let sink = AnyStage(
      signature: StageSignature(
        kind: "results", version: 1, role: .sink, input: nil, output: nil),
      options: .object([:]),
      body: .sink { delivery in
        switch delivery.result(as: Scalars.self) {
        case .success: values.withLock { $0 += 1 }
        case .failure(let failure): told.withLock { $0.append(failure) }
        case nil: break
        }
      })
    let pipeline = Pipeline.named("fragile").source(Nodes.source(.at(rate: 30, count: 6)))
      .stage(Brightness()).stage(Fragile(failing: [2], severity: severity)).stage(Counter())
      .sink(sink)

    let (notes, outcome) = try pipeline.noted(RunOptions(mode: .simulate))

    let failure = StageFailure(
      frame: FrameID(track: 0, sequence: 2), node: "fragile", code: "fragile.chosen",
      message: "a chosen frame", isRecoverable: severity == .recoverable)
    #expect(outcome.failures == [failure])
    #expect(outcome.halt == (severity == .recoverable ? nil : failure))
    #expect("\(failure)" == "frame 0:2, stage fragile: a chosen frame [fragile.chosen]")
    #expect(notes.failures == [failure])
    let frame = try #require(notes.frames.first { $0.result.id.sequence == 2 })
    #expect(frame.failures == [failure])
    #expect(told.withLock { $0 } == [failure])
    #expect(values.withLock { $0 } == (severity == .recoverable ? 5 : 2))
  }

  @Test func `a message has a bound`() {
    let failure = StageFailure(
      frame: FrameID(track: 0, sequence: 0), node: "a", code: "b",
      message: String(repeating: "x", count: 100_000))
    #expect(failure.message.count == StageFailure.messageCharactersMax)
  }

  @Test func `a damaged frame fails at its source`() throws {
    var frames = TinyFrames.at(rate: 30, count: 4)
    frames.damaged = [1: "session.packet.refused"]
    let pipeline = Pipeline.named("damage").source(Nodes.source(frames)).stage(Brightness())
      .sink(Nodes.sink())
    let (notes, outcome) = try pipeline.noted()
    #expect(notes.fates == ".x..")
    #expect(outcome.failures.map(\.node) == ["camera"])
    #expect(outcome.failures.first?.message == "the frame is damaged or missing in the session")
    #expect(notes.frames[1].digests == [.notRun, .notRun])
  }

  @Test func `frames without payload are counted beside the ledger`() throws {
    var frames = TinyFrames.at(rate: 30, count: 4)
    frames.shed = [0, 2]
    let pipeline = Pipeline.named("shed").source(Nodes.source(frames)).stage(Brightness())
      .sink(Nodes.sink())
    let (_, outcome) = try pipeline.noted()
    #expect(outcome.payloadMissing == 2)
    #expect(outcome.headline.captured == 2)
  }
}
