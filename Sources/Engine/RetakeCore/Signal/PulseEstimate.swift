/// The rate of a pulse, and how clear it is.
package struct PulseEstimate: Hashable, Sendable {
  /// The share of the band's power that belongs to the pulse, 0 to 1; 0 if the signal has no
  /// measurable pulse. The signal-to-noise ratio of the field, in decibels, is
  /// 10 log₁₀(quality / (1 − quality)).
  package var quality: Double
  /// `nil` if the quality is below the limit: a number that is not known is never invented.
  package var beatsPerMinute: Double?

  package static let none = PulseEstimate(quality: 0, beatsPerMinute: nil)
}

/// Finds the rate of a pulse in a spectrum.
///
/// Samples are clipped at three median deviations, so that a movement does not outweigh all beats,
/// multiplied with Hann's window, and padded with zeros to at least four times their number. The
/// peak is the frequency f with the largest P(f) + ½ P(2f), refined with a parabola through three
/// amplitudes. The quality is the power within 0.1 Hz of f and of 2f over all power in the band (de
/// Haan, Jeanne 2013).
package struct PulseFinder: Hashable, Sendable {
  /// The lowest rate, in hertz.
  package var low = 0.5
  /// The highest rate, in hertz.
  package var high = 4.0
  /// The smallest quality at which the estimate has a rate.
  package var qualityMin = 0.45
  /// The shortest signal that is measured, in seconds.
  package var secondsMin = 6.0

  /// In hertz: how far from the peak power still belongs to it.
  private static let reach = 0.1
  /// In the signal's unit: smaller amplitudes are the rounding of a constant.
  private static let amplitudeMin = 1e-9

  package init() {}

  /// - Parameter rate: Samples per second.
  package func estimate(_ samples: [Double], rate: Double) -> PulseEstimate {
    guard rate > 0, rate.isFinite, Double(samples.count) >= secondsMin * rate,
      samples.count <= FourierTransform.sizeMax / 4, samples.isMeasurable
    else { return .none }
    let middle = samples.median
    let limit = 3 * samples.medianDeviation
    guard limit > Self.amplitudeMin else { return .none }
    let clipped = samples.map { max(-limit, min(limit, $0 - middle)) }
    return estimate(Spectrum(of: clipped, rate: rate))
  }

  private func estimate(_ spectrum: Spectrum) -> PulseEstimate {
    guard let peak = spectrum.peak(from: low, to: high) else { return .none }
    let frequency = spectrum.refined(peak)
    let all = spectrum.power(from: low, to: high)
    let beat = spectrum.power(
      from: max(low, frequency - Self.reach), to: min(high, frequency + Self.reach))
    let harmonic = spectrum.power(
      from: 2 * frequency - Self.reach, to: min(high, 2 * frequency + Self.reach))
    let quality = min(1, (beat + harmonic) / all)
    guard all > 0, quality.isFinite else { return .none }
    return PulseEstimate(
      quality: quality, beatsPerMinute: quality >= qualityMin ? frequency * 60 : nil)
  }
}

/// The power of a signal by frequency.
private struct Spectrum {
  let power: [Double]
  /// In hertz.
  let binWidth: Double

  init(of samples: [Double], rate: Double) {
    var size = 2
    while size < 4 * samples.count { size *= 2 }
    let weights = Window.hann(samples.count)
    power = FourierTransform(size: size).power(of: zip(samples, weights).map { $0 * $1 })
    binWidth = rate / Double(size)
  }

  /// The bins of a band, its edges included; empty if no bin is in the band.
  private func bins(from low: Double, to high: Double) -> Range<Int> {
    let first = max(0, Int((low / binWidth).rounded(.up)))
    let last = min(power.count - 1, Int((high / binWidth).rounded(.down)))
    return first..<max(first, last + 1)
  }

  func power(from low: Double, to high: Double) -> Double {
    bins(from: low, to: high).reduce(0) { $0 + power[$1] }
  }

  /// The bin with the largest sum of its power and half the power at twice its frequency.
  func peak(from low: Double, to high: Double) -> Int? {
    var best: (bin: Int, score: Double)?
    for bin in bins(from: low, to: high) where isTop(bin) {
      let score = power[bin] + (2 * bin < power.count ? power[2 * bin] / 2 : 0)
      if score > best?.score ?? 0 { best = (bin, score) }
    }
    return best?.bin
  }

  /// Compares bins outside of the band, too: the slope of a peak outside of the band is not a peak,
  /// even if it is high at the band's edge.
  private func isTop(_ bin: Int) -> Bool {
    bin > 0 && bin + 1 < power.count && power[bin] > power[bin - 1]
      && power[bin] >= power[bin + 1]
  }

  /// The frequency of the top of a parabola through the amplitudes around a bin.
  func refined(_ bin: Int) -> Double {
    let (left, top, right) = (
      power[bin - 1].squareRoot(), power[bin].squareRoot(), power[bin + 1].squareRoot()
    )
    let curve = left - 2 * top + right
    let offset = curve < 0 ? (left - right) / (2 * curve) : 0
    return (Double(bin) + offset) * binWidth
  }
}
