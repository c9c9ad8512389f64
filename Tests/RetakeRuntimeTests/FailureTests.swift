import RetakeCore
import RetakeGraph
import RetakeRuntime
import Testing

@Suite struct FailureTests {
  private func pipeline(_ stage: Fragile, frames: Int = 6) -> Pipeline {
    Pipeline.named("fragile").source(Nodes.source(.at(rate: 30, count: frames)))
      .stage(Brightness()).stage(stage).stage(Counter()).sink(Nodes.sink())
  }

  @Test(arguments: [RunOptions.Mode.lossless, .redecide])
  func `a recoverable failure takes the frame's place and is reported once`(
    mode: RunOptions.Mode
  ) throws {
    let (notes, outcome) = try pipeline(Fragile(failing: [2, 4])).noted(RunOptions(mode: mode))
    #expect(notes.fates == "..x.x.")
    #expect(outcome.headline.failed == 2)
    #expect(outcome.errors.map(\.frame.sequence) == [2, 4])
    #expect(outcome.errors.allSatisfy { $0.code == "fragile.chosen" && $0.node == "fragile" })
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
      .noted(RunOptions(mode: .lossless, workers: workers))
    #expect(notes.fates == "...-")
    #expect(notes.lines.last?.kind == "halt")
    #expect(outcome.halt?.frame.sequence == 3)
    #expect(outcome.headline.inFlight == 1)
    #expect(outcome.headline.isBalanced)
  }

  @Test func `a damaged frame fails at its source`() throws {
    var frames = TinyFrames.at(rate: 30, count: 4)
    frames.damaged = [1: "session.packet.refused"]
    let pipeline = Pipeline.named("damage").source(Nodes.source(frames)).stage(Brightness())
      .sink(Nodes.sink())
    let (notes, outcome) = try pipeline.noted()
    #expect(notes.fates == ".x..")
    #expect(outcome.errors.map(\.node) == ["camera"])
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
