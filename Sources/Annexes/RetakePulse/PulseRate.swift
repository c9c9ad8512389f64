package import RetakeCore
package import RetakeGraph

/// The band in which the pulse is searched, and the limits below which the output has no rate.
/// `pulse-rate` and `heart-variability` share them.
package struct PulseRateOptions: StageOptions, Hashable {
  @OptionValue("lowest rate that is looked for, in hertz; {range}", in: 0.1...10)
  package var low = PulseFinder().low
  @OptionValue("highest rate that is looked for, in hertz; above 'low' and at most 10")
  package var high = PulseFinder().high
  @OptionValue("quality below which no number is given, {range}", in: 0...1)
  package var qualityMin = PulseFinder().qualityMin
  @OptionValue("shortest signal of which a number is given, in seconds; {range}", in: 2...60)
  package var secondsMin = PulseFinder().secondsMin

  package init() {}

  package init(low: Double, high: Double, qualityMin: Double, secondsMin: Double) {
    (self.low, self.high) = (low, high)
    (self.qualityMin, self.secondsMin) = (qualityMin, secondsMin)
  }

  func check() throws {
    try checkRanges(through: "low")
    guard high > low, high <= 10 else {
      throw OptionError(
        key: "high", message: "must be above 'low' (\(low)) and at most 10.0, is \(high)")
    }
    try checkRanges()
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
