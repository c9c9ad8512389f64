import Retake
import Testing

/// The published sample of the predictive allocation of frames.
///
/// Differs: a caller gives `BufferPool` the time; it reads no clock, so a test decides it.
@Suite struct PredictiveAllocation {
  @Test func `the adaptive pool grows under load, and shrinks in heat`() throws {
    var sizing = PoolSizing()
    (sizing.min, sizing.max, sizing.predictor) = (4, 12, .ar1)
    let pool = BufferPool("camera", sizing: sizing, capacity: 8) {
      [UInt8](repeating: 0, count: 1_920 * 1_080 * 4)
    }
    let leases = try (0..<8).compactMap { _ in try pool.lease(for: "ocr") }
    #expect(leases.count == 8)
    // In steps of 500 ms.
    for window in 1...8 { _ = pool.advance(to: Int64(window) * 500_000_000) }
    #expect(pool.report.size > 8 && pool.report.size <= 12)
    for lease in leases { lease.end() }
    // A pool changes once a second at most, so pressure may wait for the end of a window.
    _ = pool.becameHot(at: 4_100_000_000)
    _ = pool.advance(to: 6_000_000_000)
    #expect(pool.report.size == 4)
    _ = pool.ranShortOfMemory(at: 6_100_000_000)
    _ = pool.advance(to: 8_000_000_000)
    #expect(pool.report.size == 3 && pool.report.faults.isEmpty)
  }
}
