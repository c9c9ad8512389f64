package import RetakeCore
package import RetakeGraph
import RetakeStages

/// How a pulse is read from the mean colors of skin.
public enum PulseMethod: String, Hashable, Sendable, Codable, CaseIterable {
  /// The red channel: for a fingertip that the light shines through.
  case red
  /// The green channel, whose light blood absorbs most.
  case green
  /// Plane orthogonal to skin (Wang and others, 2017): for a face in ambient light.
  case pos
  /// Chrominance (de Haan, Jeanne 2013): for a face that moves a little.
  case chrom
}

/// How the pulse is read.
package struct PulseSignalOptions: StageOptions, Hashable {
  @OptionValue(
    "'red' (a lit fingertip), 'green', 'pos' (a face, still), or 'chrom' (a face that moves a "
      + "little)")
  package var method = PulseMethod.green

  package init() {}

  package init(method: PulseMethod) { self.method = method }
}

/// The pulse in a window of mean colors: see `ColorSignals` for the papers.
///
/// The methods `red` and `green` read the channel of their name; `pos` and `chrom` read `red`,
/// `green` and `blue`. A window without these channels fails the frame with `pulseSignal.channel`.
/// The unit is the mean level, so 0.01 is one percent of the light.
package struct PulseSignal: PureStage {
  package static let kind = "pulse-signal"
  package static let summary = "reads the pulse out of a window of mean colors"

  package let options: PulseSignalOptions

  package init(options: PulseSignalOptions) {
    self.options = options
  }

  package func process(
    _ window: SignalWindow, _ context: StageContext
  ) throws -> Waveform {
    func channel(_ name: String) throws -> Waveform {
      guard let channel = window[name] else { throw StageError.noChannel(name, in: window) }
      return channel
    }
    guard options.method == .pos || options.method == .chrom else {
      let single = try channel(options.method.rawValue)
      return Waveform(name: "pulse", rate: single.rate, samples: single.samples.relative)
    }
    let (red, green, blue) = (try channel("red"), try channel("green"), try channel("blue"))
    // A stage of a user may have changed the window, and the channels must still fit together.
    guard red.samples.count <= ColorSignals.countMax, red.rate > 0, red.rate.isFinite,
      red.samples.count == green.samples.count, red.samples.count == blue.samples.count
    else {
      throw StageError(
        code: "pulseSignal.window",
        message: "the channels must have a rate, the same number of samples, and at most "
          + "\(ColorSignals.countMax)")
    }
    let colors = ColorSignals(
      red: red.samples, green: green.samples, blue: blue.samples, rate: red.rate)
    return Waveform(
      name: "pulse", rate: red.rate,
      samples: options.method == .pos ? colors.planeOrthogonalToSkin() : colors.chrominance())
  }
}

extension StageError {
  fileprivate static func noChannel(_ name: String, in window: SignalWindow) -> StageError {
    let names = window.waveforms.map { "'\($0.name)'" }.joined(separator: ", ")
    return StageError(
      code: "pulseSignal.channel",
      message: "the window has no channel '\(name)', it has \(names.isEmpty ? "none" : names): "
        + "put 'fingertip' or 'region-means' before 'resample'")
  }
}
