package import RetakeCore
package import RetakeGraph

/// The band that is kept.
package struct BandpassOptions: StageOptions, Hashable {
  @OptionValue("lower edge of the band in hertz, {range}", in: 0.05...100) package var low = 0.5
  @OptionValue("upper edge of the band in hertz, above 'low' and at most 110")
  package var high = 4.0
  @OptionValue(
    "order of the filter, {range}; a higher one has steeper edges", in: 1...BandPass.orderMax)
  package var order = 2

  package init() {}

  package init(low: Double = 0.5, high: Double = 4, order: Int = 2) {
    (self.low, self.high, self.order) = (low, high, order)
  }
}

/// Keeps the frequencies of a band, without delay: see `BandPass` for the filter.
///
/// A waveform whose rate is not above twice the upper edge fails the frame with `bandpass.rate`.
package struct Bandpass: PureStage {
  package static let kind = "bandpass"
  package static let summary = "keeps a band of frequencies of a waveform, without delay"

  package let options: BandpassOptions

  /// - Throws: `OptionError` for an edge or an order that is out of bounds.
  package init(options: BandpassOptions) throws {
    try options.checkRanges(through: "low")
    guard options.high > options.low, options.high <= 110 else {
      throw OptionError(
        key: "high",
        message: "must be above 'low' (\(options.low)) and at most 110.0, is \(options.high)")
    }
    try options.checkRanges()
    self.options = options
  }

  package func process(
    _ input: Waveform, _ context: StageContext
  ) throws -> Waveform {
    guard input.rate > 2 * options.high, input.rate.isFinite else {
      throw StageError(
        code: "bandpass.rate",
        message: "the waveform has \(input.rate) samples a second; \(options.high) Hz needs more "
          + "than \(2 * options.high): raise the 'rate' of 'resample', or lower 'high'")
    }
    var output = input
    output.samples = BandPass(
      low: options.low, high: options.high, order: options.order, rate: input.rate
    ).filtered(input.samples)
    return output
  }
}
