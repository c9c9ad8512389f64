import RetakeCore
import RetakeGraph
import Testing

@testable import RetakeTimePlane

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
      let limit = EventKey.nanosecondsMax
      let passed = [-limit, limit, limit].map { throttle.passes(at: $0) }
      #expect(passed == [true, true, false])
    }
  }

  /// `p` for each frame that passes, one character every 10 ms. A letter changes the rate just
  /// before the frame at its position: `a` 50, `b` 25 frames per second, `0` no limit.
  private func passing(_ frames: String, rates: String) -> String {
    let known: [Character: Double] = ["a": 50, "b": 25, "0": 0]
    var throttle: ThrottleStateMachine?
    var passed = ""
    for (index, (frame, rate)) in zip(frames, rates).enumerated() {
      if let rate = known[rate] {
        let interval = ThrottleStateMachine.intervalNanoseconds(framesPerSecond: rate)
        if throttle?.changeRate(intervalNanoseconds: interval) == nil {
          throttle = ThrottleStateMachine(framesPerSecond: rate)
        }
      }
      let passes = frame == "f" && throttle?.passes(at: Int64(index) * 10_000_000) == true
      passed += passes ? "p" : "-"
    }
    return passed
  }

  @Test(arguments: [
    // The beat continues: after 20 ms comes 20 + 40, and later 90 + 20 + a quarter early.
    ("ffffffffffffffffffff", "a...b.....a....0.a..", "p-p--p---p--p-pppp-p"),
    // Before its first frame a throttle has no beat to keep.
    ("----ffff", "a.b.....", "----p--p"),
    // Switched off and on, it resets: the next frame passes at once.
    ("ffff", "b.0b", "p-pp"), ("fffff", "b..b.", "p--p-"),
    // A rate that is set and reset between two frames has no effect.
    ("f--f-f--f", "bab.babab", "p--p----p"),
  ])
  func `another rate goes on from the last beat`(frames: String, rates: String, passed: String) {
    #expect(passing(frames, rates: rates) == passed)
  }

  @Test func `only another interval is a change, and the slowest stays within its bounds`() {
    var throttle = ThrottleStateMachine(framesPerSecond: 30)
    let limit = EventKey.nanosecondsMax
    let slowest = ThrottleStateMachine.intervalNanosecondsMax
    var changes = [throttle.changeRate(intervalNanoseconds: 33_333_333)]
    var passed = [throttle.passes(at: limit)]
    for _ in 0..<4 {
      changes.append(throttle.changeRate(intervalNanoseconds: slowest))
      changes.append(throttle.changeRate(intervalNanoseconds: 1))
    }
    passed.append(throttle.passes(at: limit + 1))
    #expect(changes == [false] + Array(repeating: true, count: 8))
    #expect(passed == [true, true])
  }

  @Test func `a policy's interval is that of its rate, and none at all without a limit`() {
    let policy = DevicePolicy(fps: 0, rules: [DeviceRule(thermal: .serious, fps: 15)])
    var state = DeviceState()
    #expect(policy.intervalNanoseconds(in: state) == 0)
    #expect(ThrottleStateMachine(framesPerSecond: policy).intervalNanoseconds == 0)
    state.apply(.thermal(.critical))
    #expect(policy.intervalNanoseconds(in: state) == 66_666_667)
  }
}
