package import RetakeCore
package import RetakeGraph
import RetakeStages

/// The band in which the pulse is searched, and the limits below which the output has no rate.
/// `pulse-rate` and `heart-variability` share them.
package struct PulseRateOptions: StageOptions, Hashable {
  package static let explanations: [String: String] = [
    "high": "highest rate that is looked for, in hertz; above 'low' and at most 10",
    "low": "lowest rate that is looked for, in hertz; 0.1 to 10",
    "qualityMin": "quality below which no number is given, 0 to 1",
    "secondsMin": "shortest signal of which a number is given, in seconds; 2 to 60",
  ]

  /// The lowest rate in hertz, 0.1 to 10.
  package var low = PulseFinder().low
  /// The highest rate in hertz, above `low` and at most 10.
  package var high = PulseFinder().high
  /// The smallest quality at which the output has a rate, 0 to 1.
  package var qualityMin = PulseFinder().qualityMin
  /// The shortest signal that is measured, in seconds; 2 to 60.
  package var secondsMin = PulseFinder().secondsMin

  package init() {}

  package init(low: Double, high: Double, qualityMin: Double, secondsMin: Double) {
    (self.low, self.high) = (low, high)
    (self.qualityMin, self.secondsMin) = (qualityMin, secondsMin)
  }

  func check() throws {
    try OptionError.require(low, "low", in: 0.1...10)
    guard high > low, high <= 10 else {
      throw OptionError(
        key: "high", message: "must be above 'low' (\(low)) and at most 10.0, is \(high)")
    }
    try OptionError.require(qualityMin, "qualityMin", in: 0...1)
    try OptionError.require(secondsMin, "secondsMin", in: 2...60)
  }

  var finder: PulseFinder {
    var finder = PulseFinder()
    (finder.low, finder.high) = (low, high)
    (finder.qualityMin, finder.secondsMin) = (qualityMin, secondsMin)
    return finder
  }
}

/// The rate of the pulse in a band-passed waveform: `quality`, and `bpm` in beats per minute.
///
/// Below the smallest quality the output has no `bpm`: for a short, constant or noisy signal it has
/// only the quality. See `PulseFinder` for both.
package struct PulseRate: PureStage {
  package typealias Options = PulseRateOptions

  package static let kind = "pulse-rate"
  package static let summary = "finds beats per minute in a waveform, if its quality allows it"

  package let options: PulseRateOptions

  /// - Throws: `OptionError` for a number that is out of bounds.
  package init(options: PulseRateOptions) throws {
    try options.check()
    self.options = options
  }

  package func process(_ input: Waveform, _ context: StageContext) -> Scalars {
    let estimate = options.finder.estimate(input.samples, rate: input.rate)
    var entries = [Scalars.Entry("quality", estimate.quality)]
    if let rate = estimate.beatsPerMinute { entries.append(.init("bpm", rate)) }
    return Scalars(entries)
  }
}
