package import RetakeBuffers
import RetakeGraph

/// A pool that takes part in the benchmark.
package struct PoolContender: Sendable {
  package var name: String
  package var capacity: Int
  package var adaptive: PoolSizing?

  package init(_ name: String, capacity: Int, adaptive: PoolSizing? = nil) {
    self.name = name
    self.capacity = capacity
    self.adaptive = adaptive
  }

  /// The three pools of the article, with each predictor, and the tuned pool.
  package static var standard: [PoolContender] {
    var ar1 = PoolSizing()
    ar1.predictor = .ar1
    return [
      PoolContender("fixed 8", capacity: 8), PoolContender("fixed 16", capacity: 16),
      PoolContender("4-12 ewma", capacity: 8, adaptive: PoolSizing()),
      PoolContender("4-12 ar1", capacity: 8, adaptive: ar1), tuned,
    ]
  }

  /// What `PoolTuning` found on the families ocr and shift; judged on the family swing.
  package static var tuned: PoolContender {
    var sizing = PoolSizing()
    (sizing.min, sizing.predictor, sizing.off) = (6, .ar1, [.breaker])
    return PoolContender("tuned", capacity: 8, adaptive: sizing)
  }
}
