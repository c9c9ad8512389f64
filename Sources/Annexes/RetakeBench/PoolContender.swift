package import RetakeBuffers

/// A pool that the benchmark compares.
package struct PoolContender: Sendable {
  package var name: String
  package var capacity: Int
  package var adaptive: PoolSizing?

  package init(_ name: String, capacity: Int, adaptive: PoolSizing? = nil) {
    self.name = name
    self.capacity = capacity
    self.adaptive = adaptive
  }

  /// The fixed pools of 8 and 16, the adaptive pool with each predictor, and the tuned pool.
  package static var standard: [PoolContender] {
    var ar1 = PoolSizing()
    ar1.predictor = .ar1
    return [
      PoolContender("fixed 8", capacity: 8), PoolContender("fixed 16", capacity: 16),
      PoolContender("4-12 ewma", capacity: 8, adaptive: PoolSizing()),
      PoolContender("4-12 ar1", capacity: 8, adaptive: ar1), tuned,
    ]
  }

  /// The pools that are compared if the camera waits for a buffer: the standard pools but the tuned
  /// pool, a pool with `trend`, and a pool that may grow to 16 without a breaker.
  package static var waiting: [PoolContender] {
    var trend = PoolSizing()
    trend.predictor = .trend
    return standard.filter { $0.name != "tuned" } + [
      PoolContender("4-12 trend", capacity: 8, adaptive: trend), large,
    ]
  }

  /// The adaptive pool without the breaker, which fixes the size when too many frames are lost.
  package static var steady: PoolContender {
    var sizing = PoolSizing()
    sizing.off = [.breaker]
    return PoolContender("4-12 no breaker", capacity: 8, adaptive: sizing)
  }

  /// The adaptive pool with at most 16 buffers, and without the breaker.
  package static var large: PoolContender { unbroken(to: 16, .ewma) }

  /// A pool of 4 buffers to `most` that no breaker fixes. Its name says so.
  package static func unbroken(to most: Int, _ predictor: PoolSizing.Predictor) -> PoolContender {
    var sizing = PoolSizing()
    (sizing.max, sizing.predictor, sizing.off) = (most, predictor, [.breaker])
    return PoolContender(
      "\(sizing.min)-\(most) \(predictor.rawValue), no breaker", capacity: 8, adaptive: sizing)
  }

  /// The options that `PoolTuning` chose on the families ocr and shift, and judged on the family
  /// swing.
  package static var tuned: PoolContender {
    var sizing = PoolSizing()
    (sizing.min, sizing.predictor, sizing.off) = (6, .ar1, [.breaker])
    return PoolContender("tuned", capacity: 8, adaptive: sizing)
  }
}
