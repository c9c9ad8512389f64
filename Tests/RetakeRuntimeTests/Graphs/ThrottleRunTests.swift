import RetakeCore
import RetakeGraph
import RetakeRuntime
import RetakeTimePlane
import Testing

@Suite struct ThrottleRunTests {
  @Test func `a throttle to 15 fps passes half of 30 fps, with jitter and a gap`() throws {
    var frames = TinyFrames.at(rate: 30, count: 900)
    frames.arrivals = (0..<900).map {
      let bits = Draw.bits(seed: 4, node: 0, sequence: $0, item: 0, purpose: .cost)
      return Int64($0) * 1_000_000_000 / 30 + Int64(bits % 8_000_000) + ($0 > 400 ? 500_000_000 : 0)
    }
    let pipeline = Pipeline.named("thin").source(Nodes.source(frames))
      .passing(Nodes.throttle(15)).stage(Brightness()).sink(Nodes.sink())
    let ledger = try pipeline.noted().outcome.headline
    #expect((450...451).contains(ledger.delivered))
    #expect(ledger.delivered + ledger.throttled == 900)
  }

  @Test func `throttled frames are counted by design, not as loss`() throws {
    let pipeline = Pipeline.named("thin").source(Nodes.source(.at(rate: 30, count: 30)))
      .passing(Nodes.throttle(15)).stage(Brightness()).sink(Nodes.sink())
    let (notes, outcome) = try pipeline.noted(RunOptions(mode: .everyFrame))
    #expect(outcome.headline.throttled == 15)
    #expect(outcome.headline.delivered == 15)
    #expect(notes.sequences("thin").first == 1)
    #expect(outcome.headline.isBalanced)
  }
}
