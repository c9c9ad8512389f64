/// A blur with integer weights, whose sum is 65,536.
struct GaussianBlur {
  /// By distance: from the center outward, of half a kernel.
  private let weights: [Int: [Int]]

  /// - Returns: `nil` without a blur.
  init?(sigma: Double) {
    guard sigma >= 0.001 else { return nil }
    // By the number of pixels for each sample.
    weights = [1: Self.weights(sigma), 2: Self.weights(sigma / 2)]
  }

  private static func weights(_ sigma: Double) -> [Int] {
    // Beyond three standard deviations, weights are below 1 % of the center's.
    let values = (0...Int((3 * sigma).rounded(.up))).map { distance -> Double in
      exponential(Double(distance * distance) / (2 * sigma * sigma))
    }
    let sum = values[0] + 2 * values.dropFirst().reduce(0, +)
    var weights = values.map { Int((65_536 * $0 / sum).rounded()) }
    weights[0] = 65_536 - 2 * weights.dropFirst().reduce(0, +)
    return weights
  }

  /// e to the power of -x, from operations that are exact to the last bit on every machine, unlike
  /// the functions of the C library.
  private static func exponential(_ x: Double) -> Double {
    // The kernel ends at x = 4.5; half a kernel that is narrower than a sample goes further.
    guard x < 64 else { return 0 }
    let part = x / 1_024
    var value = 1 - part + part * part / 2 - part * part * part / 6
    for _ in 0..<10 { value *= value }
    return value
  }

  func apply(to plane: inout SamplePlanes.Plane) {
    let (across, down) = (weights[plane.step.across] ?? [], weights[plane.step.down] ?? [])
    let (width, rows, channels) = (plane.rowBytes / plane.channels, plane.rows, plane.channels)
    // 256 levels for each level of a sample.
    var wide = [Int32](repeating: 0, count: plane.samples.count)
    for row in 0..<rows {
      let start = row * plane.rowBytes
      for x in 0..<width {
        for channel in 0..<channels {
          func sample(_ x: Int) -> Int { Int(plane.samples[start + x * channels + channel]) }
          var sum = across[0] * sample(x)
          for distance in across.indices.dropFirst() {
            sum +=
              across[distance]
              * (sample(max(x - distance, 0)) + sample(min(x + distance, width - 1)))
          }
          wide[start + x * channels + channel] = Int32((sum + 128) >> 8)
        }
      }
    }
    for row in 0..<rows {
      for x in 0..<plane.rowBytes where !plane.isOpacity(x) {
        func sample(_ row: Int) -> Int { Int(wide[row * plane.rowBytes + x]) }
        var sum = down[0] * sample(row)
        for distance in down.indices.dropFirst() {
          sum +=
            down[distance]
            * (sample(max(row - distance, 0)) + sample(min(row + distance, rows - 1)))
        }
        plane.samples[row * plane.rowBytes + x] = UInt8(min((sum + (1 << 23)) >> 24, 255))
      }
    }
  }
}
