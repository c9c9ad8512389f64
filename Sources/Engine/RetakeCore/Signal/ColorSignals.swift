/// Mean red, green and blue of skin at an even rate, the earliest first, and how a pulse is read
/// from them. Its unit is the mean level: 0.01 is a change of the light by one percent.
package struct ColorSignals: Hashable, Sendable {
  package let red: [Double]
  package let green: [Double]
  package let blue: [Double]
  /// Samples per second.
  package let rate: Double

  /// The longest signal, in samples: two minutes at 240 a second, rounded up to a power of two.
  package static let countMax = 32_768

  /// Each channel has the same number of samples, at most `countMax`.
  package init(red: [Double], green: [Double], blue: [Double], rate: Double) {
    requirement(
      red.count == green.count && red.count == blue.count && red.count <= Self.countMax,
      "the channels are equally long, with at most \(Self.countMax) samples")
    requirement(rate > 0 && rate.isFinite, "the rate is above 0")
    (self.red, self.green, self.blue, self.rate) = (red, green, blue, rate)
  }

  /// The papers' 1.6 seconds in samples, rounded up.
  private var intervalCount: Int {
    // Rates such as 24 are not exact in tenths: less than a thousandth of a sample is rounding.
    Int(min(1.6 * rate - 1e-3, Double(Self.countMax)).rounded(.up))
  }

  /// The pulse in the plane orthogonal to the color of skin: Wang, den Brinker, Stuijk, de Haan,
  /// "Algorithmic principles of remote PPG" (IEEE Transactions on Biomedical Engineering 64, 2017),
  /// algorithm 1.
  ///
  /// - Returns: As many samples as the channels have; zeros if they are shorter than an interval.
  package func planeOrthogonalToSkin() -> [Double] {
    let length = max(2, intervalCount)
    var pulse = [Double](repeating: 0, count: red.count)
    for start in 0..<max(0, red.count - length + 1) {
      let interval = start..<start + length
      let (r, g, b) = (red[interval].ratios, green[interval].ratios, blue[interval].ratios)
      let one = zip(g, b).map { $0 - $1 }
      let two = r.indices.map { g[$0] + b[$0] - 2 * r[$0] }
      let share = one.deviation.ratio(to: two.deviation)
      let sum = zip(one, two).map { $0 + share * $1 }
      let mean = sum.mean
      for (index, value) in sum.enumerated() { pulse[start + index] += value - mean }
    }
    return pulse
  }

  /// The pulse in the chrominance: de Haan, Jeanne, "Robust pulse rate from chrominance-based rPPG"
  /// (the same journal, 60, 2013), in intervals that overlap by half and are weighted with Hann's
  /// window. The band of the paper's filter is 0.5 to 4 Hz here.
  ///
  /// - Returns: As many samples as the channels have; zeros if they are shorter than an interval.
  package func chrominance() -> [Double] {
    let half = max(1, (intervalCount + 1) / 2)
    // The band of the pulse, which the paper filters with; a slow camera has less of it.
    let high = min(4, 0.45 * rate)
    var pulse = [Double](repeating: 0, count: red.count)
    guard red.count >= 2 * half, high > 0.5 else { return pulse }
    let filter = BandPass(low: 0.5, high: high, order: 2, rate: rate)
    let window = Window.hann(2 * half)
    for start in stride(from: 0, through: red.count - 2 * half, by: half) {
      let interval = start..<start + 2 * half
      let (r, g, b) = (red[interval].ratios, green[interval].ratios, blue[interval].ratios)
      let x = filter.filtered(r.indices.map { 3 * r[$0] - 2 * g[$0] })
      let y = filter.filtered(r.indices.map { 1.5 * r[$0] + g[$0] - 1.5 * b[$0] })
      let share = x.deviation.ratio(to: y.deviation)
      for index in window.indices {
        pulse[start + index] += window[index] * (x[index] - share * y[index])
      }
    }
    return pulse
  }
}

extension [Double] {
  /// The deviation from the mean, in units of the mean: the pulse in a single channel.
  package var relative: [Double] {
    let mean = self.mean
    return map { ($0 - mean).ratio(to: mean) }
  }
}

extension ArraySlice<Double> {
  /// The samples in units of their mean.
  fileprivate var ratios: [Double] {
    let mean = Array(self).mean
    return map { $0.ratio(to: mean) }
  }
}

extension Double {
  /// The quotient; 0 where it has no value, as in black or in a constant picture.
  fileprivate func ratio(to other: Double) -> Double {
    let quotient = self / other
    return quotient.isFinite ? quotient : 0
  }
}
