import Testing

@testable import RetakeBench

@Suite struct PoolFiguresTests {
  @Test func `the busiest second is the one with the largest share in use`() {
    let samples = [
      PoolMeter.Sample(time: 0, size: 4, inUse: 1),
      PoolMeter.Sample(time: 1_500_000_000, size: 4, inUse: 4),
      PoolMeter.Sample(time: 2_250_000_000, size: 8, inUse: 2),
    ]
    // 250, then (1 + 4) / 8, then (4 · 0.25 + 2 · 0.75) / (4 · 0.25 + 8 · 0.75).
    #expect(PoolFigures.busiest(samples, end: 3_000_000_000) == 625)
  }
}
