import RetakeCore

/// Noise whose draws depend on the seed, the frame and the place of the sample alone.
struct SampleNoise {
  private let seed: UInt64
  /// The standard deviation, in 1/2^16 for each step of the sum.
  private let factor: Int

  /// The sum of eight bytes has the mean 1,020 and the variance 8 · (256² - 1) / 12.
  private static let sumMean = 1_020
  private static let sumDeviation = 209.0199

  /// - Returns: `nil` without noise.
  init?(sigma: Double, seed: UInt64) {
    factor = Int((sigma * 65_536 / Self.sumDeviation).rounded())
    self.seed = seed
    if factor == 0 { return nil }
  }

  func apply(to plane: inout SamplePlanes.Plane, frame: FrameID) {
    let noise = CameraNoise(
      seed: seed, frame: UInt64(frame.track) << 44 ^ UInt64(frame.sequence))
    for row in 0..<plane.rows {
      var key = noise.rowKey(plane: plane.index, y: row, purpose: 1)
      for x in 0..<plane.rowBytes {
        key &+= CameraNoise.step
        guard !plane.isOpacity(x) else { continue }
        let place = row * plane.rowBytes + x
        let offset = ((Self.sum(CameraNoise.mix(key)) - Self.sumMean) * factor + 32_768) >> 16
        plane.samples[place] = UInt8(min(max(Int(plane.samples[place]) + offset, 0), 255))
      }
    }
  }

  /// The sum of the eight bytes.
  private static func sum(_ bits: UInt64) -> Int {
    let pairs = (bits & 0x00ff_00ff_00ff_00ff) + ((bits >> 8) & 0x00ff_00ff_00ff_00ff)
    return Int((pairs &* 0x0001_0001_0001_0001) >> 48)
  }
}
