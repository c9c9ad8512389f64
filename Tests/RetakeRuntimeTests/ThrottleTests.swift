import RetakeCore
import RetakeGraph
import Testing

@testable import RetakeRuntime

@Suite struct ThrottleTests {
  private func passing(_ times: [Int64], rate: Double) -> Int {
    var throttle = ThrottleStateMachine(framesPerSecond: rate)
    return times.count { throttle.passes(at: $0) }
  }

  private func times(_ count: Int, jitter: (Int64) -> Int64) -> [Int64] {
    (0..<Int64(count)).map { $0 * 1_000_000_000 / 30 + jitter($0) }
  }

  @Test func `half of 30 fps passes a throttle to 15, with jitter and after a gap`() {
    let cases: [[Int64]] = [
      times(900) { _ in 0 },
      times(900) { $0 % 2 == 0 ? 4_000_000 : -4_000_000 },
      times(900) {
        Int64(Draw.bits(seed: 1, node: 0, sequence: Int($0), item: 0, purpose: .cost) % 8_000_000)
      },
      times(900) { $0 > 400 ? 500_000_000 : 0 },
      times(900) { $0 % 7 == 0 ? -6_000_000 : 0 },
    ]
    for times in cases { #expect((450...451).contains(passing(times, rate: 15))) }
  }

  @Test func `a throttle keeps its beat instead of drifting`() {
    var throttle = ThrottleStateMachine(framesPerSecond: 10)
    let passed = [0, 80_000_000, 200_000_000, 290_000_000, 375_000_000, 600_000_000]
      .map { throttle.passes(at: $0) }
    #expect(passed == [true, true, true, true, true, true])
    var strict = ThrottleStateMachine(framesPerSecond: 10)
    let early = [0, 74_999_999, 75_000_000].map { strict.passes(at: $0) }
    #expect(early == [true, false, true])
  }

  @Test func `the slowest throttle passes the first frame and counts no further than it can`() {
    for rate in [1e-300, 1e-12, Double.leastNonzeroMagnitude] {
      var throttle = ThrottleStateMachine(framesPerSecond: rate)
      let limit = ArrivalSchedule.nanosecondsMax
      let passed = [-limit, limit, limit].map { throttle.passes(at: $0) }
      #expect(passed == [true, true, false])
    }
  }

  @Test func `thinned frames are counted by design, not as loss`() throws {
    let pipeline = Pipeline.named("thin").source(Nodes.source(.at(rate: 30, count: 30)))
      .passing(Nodes.throttle(15)).stage(Brightness()).sink(Nodes.sink())
    let (notes, outcome) = try pipeline.noted(RunOptions(mode: .lossless))
    #expect(outcome.headline.thinned == 15)
    #expect(outcome.headline.delivered == 15)
    #expect(notes.sequences("thin").first == 1)
    #expect(outcome.headline.isBalanced)
  }
}
