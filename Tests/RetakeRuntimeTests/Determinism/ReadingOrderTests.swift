import RetakeGraph
import RetakeRuntime
import Testing

@Suite struct ReadingOrderTests {
  private func pipeline(_ frames: GuardedFrames) -> Pipeline {
    Pipeline.named("guarded").source(frames.source)
      .stage(Brightness(), id: "slow").cost(.fixed(.milliseconds(90)))
      .queue(capacity: 1, policy: .block).sink(Nodes.sink())
  }

  @Test(arguments: [1, 3], [2, 4, 8])
  func `no two frames of one chain are read at once, cancelled reads or not`(
    chains: Int, workers: Int
  ) throws {
    for perturbation in 0..<4 as Range<UInt64> {
      let frames = GuardedFrames(.at(rate: 30, count: 300), chains: chains)
      let (_, outcome) = try pipeline(frames).noted(
        RunOptions(mode: .simulate, workers: workers, window: 24, perturbation: perturbation))
      #expect(outcome.lostBeforeCapture > 150)
      #expect(frames.clashes == 0)
      #expect(frames.reads >= outcome.headline.delivered)
    }
  }
}
