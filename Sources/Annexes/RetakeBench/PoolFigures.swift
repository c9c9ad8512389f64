import RetakeCore

/// The results of one trial. They are integers, so that they are the same on every machine.
package struct PoolFigures: Hashable, Sendable, Encodable {
  package var load: String
  package var pool: String
  package var nanoseconds: Int64
  package var frames: Int
  /// Frames that found no free buffer when they arrived.
  package var stalls: Int
  /// The outcome of these frames if the camera waits for a buffer; `nil` if it does not wait.
  package var waits: PoolWaits?
  /// The mean over time, in hundredths of a buffer.
  package var meanBuffersHundredths: Int
  package var fewestBuffers: Int
  package var peakBuffers: Int
  package var meanBytes: Int
  package var peakBytes: Int
  /// The part of the buffers that was in use, over time, in thousandths.
  package var usedPermille: Int
  /// The same for the second in which it was largest.
  package var busiestPermille: Int
  /// The most buffers that were in use at once.
  package var peakUsed: Int
  package var resizes: Int
  /// The declared time of one change of size.
  package var resizeNanoseconds: Int
  package var isBroken: Bool
  /// Sizes and leases over time, for a plot.
  var samples: [PoolMeter.Sample]

  init(load: PoolLoad, contender: String, lost: Int, meter: PoolMeter) {
    self.load = load.name
    pool = contender
    nanoseconds = load.nanoseconds
    frames = load.frameCount
    stalls = meter.stalled.count
    if load.wait != nil {
      waits = PoolWaits(meter.waits, lost: lost, stalls: stalls, frames: frames)
    }
    let span = load.nanoseconds
    // Half of the divisor is added, so that the division of integers rounds to the nearest.
    meanBuffersHundredths = Int((meter.sizeArea * 100 + span / 2) / span)
    let sizes = meter.samples.map(\.size)
    fewestBuffers = sizes.min() ?? 0
    peakBuffers = sizes.max() ?? 0
    // Buffers times nanoseconds times bytes may not fit into 64 bits.
    meanBytes = Int(Int128(meter.sizeArea) * Int128(load.bufferBytes) / Int128(span))
    peakBytes = peakBuffers * load.bufferBytes
    usedPermille = Int((meter.useArea * 1_000 + meter.sizeArea / 2) / max(1, meter.sizeArea))
    busiestPermille = Self.busiest(meter.samples, end: span)
    peakUsed = meter.samples.map(\.inUse).max() ?? 0
    resizes = meter.resizes
    resizeNanoseconds = Int(load.resizeNanoseconds)
    isBroken = meter.isBroken
    samples = meter.samples
  }

  private static let second: Int64 = 1_000_000_000

  /// The used share of the buffers in the busiest second, in thousandths. Seconds count from the
  /// load's beginning, and the last second may be shorter.
  static func busiest(_ samples: [PoolMeter.Sample], end: Int64) -> Int {
    let count = Int((end + second - 1) / second)
    var (use, size) = ([Int64](repeating: 0, count: count), [Int64](repeating: 0, count: count))
    for (index, sample) in samples.enumerated() {
      var from = sample.time
      let until = index + 1 < samples.count ? samples[index + 1].time : end
      while from < until {
        let place = Int(from / second)
        let to = min(until, Int64(place + 1) * second)
        use[place] += Int64(sample.inUse) * (to - from)
        size[place] += Int64(sample.size) * (to - from)
        from = to
      }
    }
    return zip(use, size).map { Int(($0 * 1_000 + $1 / 2) / max(1, $1)) }.max() ?? 0
  }

  /// Stalls in hundredths of a percent of the frames.
  package var stallsPerTenThousand: Int { (stalls * 10_000 + frames / 2) / frames }

  private enum CodingKeys: CodingKey {
    case load, pool, nanoseconds, frames, stalls, meanBuffersHundredths, fewestBuffers, peakBuffers,
      meanBytes
    case waits, peakBytes, usedPermille, busiestPermille, peakUsed, resizes, resizeNanoseconds,
      isBroken
  }
}
