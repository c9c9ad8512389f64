import RetakeRuntime
import Testing

@Suite struct ThreadConditionTests {
  private let clock = WallClock()

  @Test func `a wait ends with its time when nobody rings, and not before`() {
    let start = clock.monotonicNanoseconds
    clock.wait(untilNanoseconds: start + 20_000_000, or: ThreadCondition())
    #expect(clock.monotonicNanoseconds >= start + 20_000_000)
    clock.wait(untilNanoseconds: 0, or: ThreadCondition())
    clock.wait(untilNanoseconds: .min, or: ThreadCondition())
  }

  @Test func `rings before a wait count, and count once`() {
    let condition = ThreadCondition()
    condition.signal()
    condition.signal()
    clock.wait(untilNanoseconds: .max, or: condition)
    let start = clock.monotonicNanoseconds
    clock.wait(untilNanoseconds: start + 5_000_000, or: condition)
    #expect(clock.monotonicNanoseconds >= start + 5_000_000, "the second ring did not count")
    condition.signal()
    condition.wait()
  }
}
