package import RetakeCore
package import RetakeGraph

/// How slow a change must be to be removed.
package struct DetrendOptions: StageOptions, Hashable {
  @OptionValue(
    "smoothness of the removed trend, above 0 and at most 1000000; at rate / (2π √lambda) Hz half of "
      + "the amplitude remains")
  package var lambda = 100.0

  package init() {}

  package init(lambda: Double) { self.lambda = lambda }
}

/// Removes the slow changes of a waveform, such as drifting light or falling pressure of the
/// finger. See `SmoothnessPrior` for the paper.
package struct Detrend: PureStage {
  package static let kind = "detrend"
  package static let summary = "removes the slow changes of a waveform"

  package let options: DetrendOptions

  /// - Throws: `OptionError` if lambda is out of bounds.
  package init(options: DetrendOptions) throws {
    guard options.lambda > 0, options.lambda <= 1e6 else {
      throw OptionError(
        key: "lambda", message: "must be above 0 and at most 1000000, is \(options.lambda)")
    }
    self.options = options
  }

  package func process(_ input: Waveform, _ context: StageContext) -> Waveform {
    var output = input
    output.samples = SmoothnessPrior(lambda: options.lambda).detrended(input.samples)
    return output
  }
}
