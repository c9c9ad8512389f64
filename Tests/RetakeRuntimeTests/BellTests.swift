import RetakeRuntime
import Testing

@Suite struct BellTests {
  private let clock = WallClock()

  @Test func `a wait ends with its time when nobody rings, and not before`() {
    let start = clock.monotonicNanoseconds
    clock.wait(untilNanoseconds: start + 20_000_000, or: Bell())
    #expect(clock.monotonicNanoseconds >= start + 20_000_000)
    clock.wait(untilNanoseconds: 0, or: Bell())
    clock.wait(untilNanoseconds: .min, or: Bell())
  }

  @Test func `rings before a wait count, and count once`() {
    let bell = Bell()
    bell.ring()
    bell.ring()
    clock.wait(untilNanoseconds: .max, or: bell)
    let start = clock.monotonicNanoseconds
    clock.wait(untilNanoseconds: start + 5_000_000, or: bell)
    #expect(clock.monotonicNanoseconds >= start + 5_000_000, "the second ring did not count")
    bell.ring()
    bell.wait()
  }
}
