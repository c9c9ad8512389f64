package import RetakeCore
package import RetakeGraph

/// How much the time between beats varies, in a band-passed waveform: `quality`, and `intervals`,
/// `rmssd` and `sdnn` in milliseconds.
///
/// The quality is the quality of `PulseRate`. The output has only `quality` if it is below the
/// minimum, or if the intervals are too few or do not fit to each other. See `Heartbeats` for the
/// beats.
package struct HeartVariability: PureStage {
  package static let kind = "heart-variability"
  package static let summary = "measures how the time between beats varies: RMSSD and SDNN"

  package let options: PulseRateOptions

  /// - Throws: `OptionError` for a number that is out of bounds.
  package init(options: PulseRateOptions) throws {
    try options.check()
    self.options = options
  }

  package func process(_ input: Waveform, _ context: StageContext) -> Scalars {
    let estimate = options.finder.estimate(input.samples, rate: input.rate)
    let quality = Scalars.Entry("quality", estimate.quality)
    guard let rate = estimate.beatsPerMinute,
      let found = Heartbeats(in: input.samples, rate: input.rate, beatsPerMinute: rate)
        .variability()
    else { return Scalars([quality]) }
    return Scalars([
      quality, .init("intervals", Double(found.intervalCount)),
      .init("rmssd", found.rmssdMilliseconds), .init("sdnn", found.sdnnMilliseconds),
    ])
  }
}
