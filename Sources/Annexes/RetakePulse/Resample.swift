package import RetakeCore
package import RetakeGraph
import RetakeStages

/// The even rate, and how much of the signal is kept.
package struct ResampleOptions: StageOptions, Hashable {
  @OptionValue("samples per second, {range}", in: 5...Resampler.rateMax) package var rate = 30
  @OptionValue("length of the window in seconds, {range}", in: 2...120)
  package var windowSeconds = 10
  @OptionValue(
    "longest time between two frames that is interpolated over, in milliseconds; a longer one ends "
      + "the window; {range}", in: 1...10_000)
  package var gapMilliseconds = 500

  package init() {}

  package init(rate: Int = 30, windowSeconds: Int = 10, gapMilliseconds: Int = 500) {
    (self.rate, self.windowSeconds) = (rate, windowSeconds)
    self.gapMilliseconds = gapMilliseconds
  }
}

/// The latest seconds of each number at an even rate, by linear interpolation between the
/// presentation times of the frames.
///
/// Frames that were dropped, or that came unevenly, do not change the time scale. Numbers are known
/// by their names; a frame whose numbers are not finite counts as missing, and of more than 16
/// numbers the first 16 are used. See `Resampler` for the even times.
package struct Resample: StatefulStage {
  package static let kind = "resample"
  package static let summary = "keeps the latest seconds of each number at an even rate"

  package let options: ResampleOptions
  private var names: [String] = []
  private var resampler: Resampler

  /// - Throws: `OptionError` for a number that is out of bounds.
  package init(options: ResampleOptions) throws {
    try options.checkRanges()
    self.options = options
    resampler = Self.resampler(options)
  }

  private static func resampler(_ options: ResampleOptions) -> Resampler {
    Resampler(
      rate: options.rate, windowNanoseconds: Int64(options.windowSeconds) * 1_000_000_000,
      gapNanoseconds: Int64(options.gapMilliseconds) * 1_000_000)
  }

  package mutating func process(_ input: Scalars, _ context: StageContext) -> SignalWindow {
    let entries = input.entries.prefix(Resampler.channelsMax)
    let given = entries.map(\.name)
    if given != names {
      // Other names mean another signal: the samples of the earlier signal are dropped.
      reset()
      names = given
    }
    resampler.add(entries.map(\.value), at: context.timestamp.nanoseconds)
    return SignalWindow(
      waveforms: zip(names, resampler.channels).map { name, samples in
        Waveform(name: name, rate: Double(options.rate), samples: samples)
      }, end: resampler.end.map { Timestamp(nanoseconds: $0) }, began: resampler.beginning.text)
  }

  package mutating func reset() {
    names = []
    resampler = Self.resampler(options)
  }
}
