import RetakeGraph
import Testing

/// Timelines of corner cases that random cases found, or that they rarely reach.
@Suite struct DecisionTimelineTests {
  @Test func `a throttle that empties its queue at one instant unblocks the sender once`() throws {
    // 0 and 6 pass, 14 is blocked before the slow stage; 15 and 16 wait at the throttle, 17 is
    // blocked there. When 14 is admitted at 31 ms, the throttle removes 15 and 16 from its queue
    // and leaves both out.
    let pipeline = Pipeline.named("throttled").source(Nodes.source(.on("ffffffffffffffffffff")))
      .stage(Brightness(), id: "fast").cost(.fixed(.milliseconds(1)))
      .queue(capacity: 5, policy: .dropNewest)
      .passing(Nodes.throttle(125)).queue(capacity: 2)
      .stage(Counter(), id: "slow").cost(.fixed(.milliseconds(30))).queue(capacity: 1)
      .sink(Nodes.sink())
    let (notes, outcome) = try pipeline.noted()
    let lines = notes.lines.filter { $0.time == 31_000_000 && $0.node == "throttle" }
    #expect(
      lines.map(\.description) == [
        "@31000000 throttle 0:15 thin", "@31000000 throttle 0:16 thin",
        "@31000000 throttle 0:17 unblock", "@31000000 throttle 0:17 deliver",
      ])
    #expect(outcome.headline.isBalanced)
  }
}
