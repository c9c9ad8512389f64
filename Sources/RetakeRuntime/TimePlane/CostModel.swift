import RetakeCore
import RetakeGraph

/// Gives each service its virtual duration, in nanoseconds.
package struct CostModel: Sendable {
  package let seed: UInt64
  private let isFree: Bool

  /// Everything costs nothing: the mode `lossless`.
  package static let zero = CostModel(seed: 0, isFree: true)

  /// What the pipeline declares; nodes without a cost take none.
  package static func declared(seed: UInt64) -> CostModel {
    CostModel(seed: seed, isFree: false)
  }

  package func nanoseconds(
    of cost: Cost?, nodeHash: UInt64, sequence: Int, item: Int
  ) -> Int64 {
    guard !isFree, let cost else { return 0 }
    switch cost {
    case .fixed(let duration): return duration.nanoseconds
    case .uniform(let low, let high):
      let span = UInt64(high.nanoseconds - low.nanoseconds) + 1
      let bits = draw(nodeHash, sequence, item)
      return low.nanoseconds + Int64(bits.multipliedFullWidth(by: span).high)
    case .quantiles(let p50, let p99):
      return QuantileTable.logNormal(
        p50: p50.nanoseconds, p99: p99.nanoseconds, bits: draw(nodeHash, sequence, item))
    }
  }

  private func draw(_ nodeHash: UInt64, _ sequence: Int, _ item: Int) -> UInt64 {
    Draw.bits(seed: seed, node: nodeHash, sequence: sequence, item: item, purpose: .cost)
  }
}
