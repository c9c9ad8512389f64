import Foundation
import RetakeCore
import RetakeGraph
import Testing

@testable import RetakeTimePlane

@Suite struct DeclaredCostTests {
  /// The quantile of the standard normal distribution for `probability`, by bisection.
  private func normalQuantile(_ probability: Double) -> Double {
    var low = -8.0
    var high = 8.0
    for _ in 0..<200 {
      let middle = (low + high) / 2
      if 0.5 * erfc(-middle / 2.0.squareRoot()) < probability {
        low = middle
      } else {
        high = middle
      }
    }
    return (low + high) / 2
  }

  @Test(arguments: [
    (30_000_000, 90_000_000), (2_000_000_000, 2_100_000_000), (5_000_000, 3_600_000_000_000),
    (45_000_000, 45_000_000),
  ])
  func `log-normal costs are the true ones to a millionth`(p50: Int64, p99: Int64) {
    let z99 = normalQuantile(0.99)
    var worst = 0.0
    for choice in 0..<512 as Range<UInt64> {
      let ratio = normalQuantile((Double(choice) + 0.5) / 512) / z99
      let expected = Double(p50) * pow(Double(p99) / Double(p50), ratio)
      let actual = Double(QuantileTable.logNormal(p50: p50, p99: p99, bits: choice << 55))
      worst = max(worst, (abs(actual - expected) - 1) / expected)
    }
    #expect(worst < 1e-6)
  }

  @Test func `a larger draw is a longer cost, up to the longest that there is`() {
    let costs = (0..<512 as Range<UInt64>).map {
      QuantileTable.logNormal(p50: 1, p99: Cost.nanosecondsMax, bits: $0 << 55)
    }
    #expect(costs == costs.sorted())
    #expect(costs[0] >= 0)
    #expect(costs[511] <= 1 << 62)
  }

  @Test func `uniform costs keep to their bounds and reach both`() {
    let model = CostModel.declared(seed: 3)
    let hash = Draw.hash(ofNode: "motion")
    func costs(_ low: Int64, _ high: Int64) -> [Int64] {
      (0..<2_000).map {
        model.nanoseconds(
          of: .uniform(.nanoseconds(low), .nanoseconds(high)), nodeHash: hash, sequence: $0,
          item: -1)
      }
    }
    #expect(Set(costs(10, 14)) == [10, 11, 12, 13, 14])
    #expect(Set(costs(7, 7)) == [7])
    let wide = costs(0, Cost.nanosecondsMax)
    #expect(Set(wide).count == wide.count)
    let mean = wide.reduce(0.0) { $0 + Double($1) / 2_000 } / Double(Cost.nanosecondsMax)
    #expect(abs(mean - 0.5) < 0.03)
  }

  @Test func `fixed costs are themselves, absent ones and those of every-frame are zero`() {
    let cost = Cost.fixed(.milliseconds(45))
    func nanoseconds(_ model: CostModel, _ cost: Cost?) -> Int64 {
      model.nanoseconds(of: cost, nodeHash: 1, sequence: 0, item: -1)
    }
    #expect(nanoseconds(.declared(seed: 0), cost) == 45_000_000)
    #expect(nanoseconds(.declared(seed: 0), nil) == 0)
    #expect(nanoseconds(.zero, cost) == 0)
  }

  @Test func `draws are the same numbers on every machine and in every version`() {
    func bits(_ seed: UInt64, _ sequence: Int, _ purpose: Draw.Purpose = .cost) -> UInt64 {
      Draw.bits(
        seed: seed, node: Draw.hash(ofNode: "motion"), sequence: sequence, item: -1,
        purpose: purpose)
    }
    #expect(
      [bits(0, 0), bits(0, 1), bits(1, 0), bits(0, 0, .perturbation)]
        == [0xf48655a0d4fa7f09, 0x50760973dc1d4cd5, 0x830f6f6b5da6257, 0x7aac9db50bfed4ca])
    #expect(Set((0..<10_000).map { bits(5, $0) }).count == 10_000)
  }

  @Test func `costs out of range are clamped, not wrapped`() {
    #expect(QuantileTable.exp2(Int64(63) << 32) == 1 << 62)
    #expect(QuantileTable.exp2(-1) == 0)
    #expect(QuantileTable.log2Q32(1) == 0)
    #expect(QuantileTable.log2Q32(.max) < 64 << 32)
  }
}
