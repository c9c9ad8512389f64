public import RetakeBuffers
public import RetakeCore
public import RetakeGraph
import RetakeStages

/// The stages of a pulse as methods. A number that is out of bounds is a programmer's mistake here,
/// as with the other built-in stages.
extension PipelineChain where Output == Frame {
  /// Finds the fingertip that covers the lens; the output has no detection without a fingertip.
  ///
  /// - Parameters:
  ///   - coverageMin: The smallest share of the frame that it covers, 0 to 1.
  ///   - redness: How many times brighter red is than green and than blue; 1 to 10.
  ///   - id: The node's ID; by default the kind, with a number from the second node of a kind on.
  public func findFingertip(
    coverageMin: Double = 0.5, redness: Double = 1.5, id: String? = nil
  ) -> PipelineChain<Detections> {
    stage(FindFingertip.built(.init(coverageMin: coverageMin, redness: redness)), id: id)
  }
}

extension PipelineChain where Output == Joined {
  /// Measures mean red, green and blue in the middle of the best detection of a frame.
  ///
  /// - Parameters:
  ///   - percent: Percentage of the box's width and of its height, around its middle; 1 to 100.
  ///   - id: The node's ID; by default the kind, with a number from the second node of a kind on.
  public func regionMeans(percent: Int = 60, id: String? = nil) -> PipelineChain<Scalars> {
    stage(RegionMeans.built(.init(percent: percent)), id: id)
  }
}

extension PipelineChain where Output == Scalars {
  /// Keeps the latest seconds of each number at an even rate, interpolated between the frames'
  /// presentation times.
  ///
  /// - Parameters:
  ///   - rate: Samples per second, 5 to 240.
  ///   - windowSeconds: How much is kept; 2 to 120.
  ///   - gapMilliseconds: The longest time without a frame that does not end the window; 1 to
  ///     10,000.
  ///   - id: The node's ID; by default the kind, with a number from the second node of a kind on.
  public func resample(
    rate: Int = 30, windowSeconds: Int = 10, gapMilliseconds: Int = 500, id: String? = nil
  ) -> PipelineChain<SignalWindow> {
    stage(
      Resample.built(
        .init(rate: rate, windowSeconds: windowSeconds, gapMilliseconds: gapMilliseconds)), id: id)
  }
}

extension PipelineChain where Output == SignalWindow {
  /// Reads the pulse out of a window of mean colors.
  public func pulseSignal(
    _ method: PulseMethod = .green, id: String? = nil
  ) -> PipelineChain<Waveform> {
    stage(PulseSignal(options: PulseSignalOptions(method: method)), id: id)
  }
}

extension PipelineChain where Output == Waveform {
  /// Removes slow changes: halves the amplitude at the frequency rate / (2π √lambda).
  public func detrend(lambda: Double = 100, id: String? = nil) -> PipelineChain<Waveform> {
    stage(Detrend.built(.init(lambda: lambda)), id: id)
  }

  /// Keeps a band of frequencies, in hertz, without delay.
  public func bandpass(
    low: Double = 0.5, high: Double = 4, order: Int = 2, id: String? = nil
  ) -> PipelineChain<Waveform> {
    stage(Bandpass.built(.init(low: low, high: high, order: order)), id: id)
  }

  /// Finds beats per minute: `quality`, and `bpm` unless the quality is too low.
  ///
  /// - Parameters:
  ///   - low: The lowest rate in hertz.
  ///   - high: The highest rate in hertz.
  ///   - qualityMin: The smallest quality at which the output has `bpm`, 0 to 1.
  ///   - secondsMin: The shortest signal that is measured, in seconds.
  ///   - id: The node's ID; by default the kind, with a number from the second node of a kind on.
  public func pulseRate(
    low: Double = 0.5, high: Double = 4, qualityMin: Double = 0.45, secondsMin: Double = 6,
    id: String? = nil
  ) -> PipelineChain<Scalars> {
    stage(
      PulseRate.built(.init(low: low, high: high, qualityMin: qualityMin, secondsMin: secondsMin)),
      id: id)
  }

  /// Measures how the time between beats varies: `quality`, and `intervals`, `rmssd` and `sdnn` in
  /// milliseconds unless the quality is too low. The parameters are the same as in `pulseRate`.
  public func heartVariability(
    low: Double = 0.5, high: Double = 4, qualityMin: Double = 0.45, secondsMin: Double = 6,
    id: String? = nil
  ) -> PipelineChain<Scalars> {
    stage(
      HeartVariability.built(
        .init(low: low, high: high, qualityMin: qualityMin, secondsMin: secondsMin)), id: id)
  }
}
