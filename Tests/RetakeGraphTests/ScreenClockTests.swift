import RetakeGraph
import Testing

@Suite struct ScreenClockTests {
  @Test func `refreshes lie where exact arithmetic puts them`() throws {
    let clock = try #require(ScreenClock(hertz: 60))
    #expect(
      (0...3).map { clock.nanoseconds(ofRefresh: $0) } == [0, 16_666_667, 33_333_333, 50_000_000])
    #expect(clock.nanoseconds(ofRefresh: -1) == -16_666_667)
    #expect(clock.nanoseconds(ofRefresh: 60 * 3_600 * 24 * 365) == 365 * 24 * 3_600_000_000_000)
    let film = try #require(ScreenClock(hertz: 59.94))
    #expect(film.nanoseconds(ofRefresh: 5_994) == 100_000_000_000)
  }

  @Test func `the refresh that comes next is the first that is not before`() throws {
    for hertz in [0.001, 24, 59.94, 60, 144, 1_000] {
      let clock = try #require(ScreenClock(hertz: hertz))
      for time in [-7_000_000_001, -1, 0, 1, 16_666_666, 16_666_667, 16_666_668, 1 << 55] as [Int64]
      {
        let number = clock.refresh(notBefore: time)
        #expect(clock.nanoseconds(ofRefresh: number) >= time)
        #expect(clock.nanoseconds(ofRefresh: number - 1) < time)
      }
    }
  }

  @Test(arguments: [0, -60, 1_000.5, .nan, .infinity, 0.0004])
  func `rates that no screen has are refused`(hertz: Double) {
    #expect(ScreenClock(hertz: hertz) == nil)
  }
}
