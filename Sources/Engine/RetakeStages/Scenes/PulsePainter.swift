import RetakeCore

/// A fingertip on the lens: a red field, darker towards the corners. Its brightness drifts slowly,
/// and its red (and slightly its green and blue) oscillates with the pulse.
struct PulsePainter: ScenePainter {
  /// The brightness of each sample, in 1/4,096, by plane.
  private let weights: [[UInt16]]
  private let widths: [Int]
  /// The true rate.
  private let beatsPerMinute: Int

  init(width: Int, height: Int, beatsPerMinute: Int) {
    self.beatsPerMinute = beatsPerMinute
    let (half, halfHeight) = ((width + 1) / 2, (height + 1) / 2)
    let luma = Self.vignette(width: width, height: height)
    let chroma = Self.vignette(width: half, height: halfHeight)
    weights = [luma, chroma, chroma]
    widths = [width, half, half]
  }

  /// 1 in the middle, 2/3 in the corners.
  private static func vignette(width: Int, height: Int) -> [UInt16] {
    let (centerX, centerY) = (width / 2, height / 2)
    let radius = centerX * centerX + centerY * centerY + 1
    return (0..<width * height).map { index in
      let (dy, dx) = (index / width - centerY, index % width - centerX)
      return UInt16(4_096 - 1_365 * (dx * dx + dy * dy) / radius)
    }
  }

  func picture(sequence: Int, timestamp: Timestamp) -> any SceneImage {
    let light = Self.light(at: timestamp)
    let pulse = pulse(at: timestamp)
    func level(_ mean: Int, swing: Int) -> Int {
      (mean * 256 + swing * pulse / 32_767) * light / 32_768
    }
    return PulseImage(
      components: Components(
        red: level(188, swing: 1_024), green: level(40, swing: 160), blue: level(46, swing: 128)),
      weights: weights, widths: widths)
  }

  /// Two slow waves with periods of 7 and 23 seconds and amplitudes of 4 and 3 percent, around 1 =
  /// 32,768.
  private static func light(at timestamp: Timestamp) -> Int {
    func wave(seconds: Int) -> Int {
      IntegerSine.value(angle(timestamp, turns: 1, inSeconds: seconds))
    }
    return 32_768 + (wave(seconds: 7) * 4 + wave(seconds: 23) * 3) / 100
  }

  /// A steep rise and a slower fall, within -32,767 to 32,767.
  private func pulse(at timestamp: Timestamp) -> Int {
    let phase = Self.angle(timestamp, turns: beatsPerMinute, inSeconds: 60)
    // Divided by the sum of the weights, so that it stays within the range of the sine.
    return (3 * IntegerSine.value(phase) + IntegerSine.value(2 * phase)) / 4
  }

  /// In units of 1/65,536 turn; exact for the first year.
  private static func angle(_ timestamp: Timestamp, turns: Int, inSeconds: Int) -> Int {
    let period = inSeconds * 1_000_000_000
    // The remainder is taken first, or the product with a turn would overflow after half an hour.
    return Int(timestamp.nanoseconds) * turns % period * IntegerSine.turn / period
  }
}

/// Levels in 1/256.
private struct Components {
  var red: Int
  var green: Int
  var blue: Int

  /// The summand of a plane at full brightness, added to its offset: BT.601, limited range.
  func gain(plane: Int) -> Int32 {
    let sum =
      switch plane {
      case 0: 66 * red + 129 * green + 25 * blue
      case 1: -38 * red - 74 * green + 112 * blue
      default: 112 * red - 94 * green - 18 * blue
      }
    return Int32(sum / 256)
  }
}

private struct PulseImage: SceneImage {
  var components: Components
  var weights: [[UInt16]]
  var widths: [Int]

  func fill(_ row: inout [UInt8], plane: Int, y: Int, noise: CameraNoise) {
    // In limited range black is 16 and neutral chroma 128, here in 1/256 of a level.
    fillDithered(
      &row, count: widths[plane], weights: weights[plane], start: y * widths[plane],
      offset: plane == 0 ? 16 * 256 : 128 * 256, gain: components.gain(plane: plane),
      key: noise.rowKey(plane: plane, y: y, purpose: 1))
  }
}
