/// How much two signals of evenly spaced samples differ, and whether one is merely a shifted copy
/// of the other.
package struct SignalDifference: Hashable, Sendable {
  /// The largest shift in samples in the search for the best fit.
  package static let reach = 64

  /// The root mean square of the differences, sample by sample.
  package var rms: Double
  /// Pearson's correlation, −1 to 1. For two constant signals the correlation is undefined; it is
  /// then 1.
  package var correlation: Double
  /// The number of samples by which the actual signal follows the golden signal at the best
  /// correlation; negative if it leads.
  package var lag: Int
  /// The two measures after the lag is removed, over the samples that then overlap.
  package var rmsAtLag: Double
  package var correlationAtLag: Double

  /// - Parameters:
  ///   - golden: As many finite samples as `actual` has.
  ///   - reach: The largest lag that is tried. At least half of the signal always overlaps.
  package init(golden: [Double], actual: [Double], reach: Int = reach) {
    precondition(golden.count == actual.count, "two signals of one length")
    let straight = Self.measures(golden, actual, lag: 0)
    (rms, correlation) = straight
    (rmsAtLag, correlationAtLag) = straight
    lag = 0
    let farthest = min(reach, golden.count / 2)
    guard farthest > 0 else { return }
    for distance in 1...farthest {
      for candidate in [distance, -distance] {
        let found = Self.measures(golden, actual, lag: candidate)
        // Near lags first, and a margin: a periodic signal fits at several lags, and rounding must
        // not prefer a farther one.
        if found.correlation > correlationAtLag + 1e-9 {
          (rmsAtLag, correlationAtLag) = found
          lag = candidate
        }
      }
    }
  }

  /// Whether the shift explains the difference: a tenth or less of the difference remains, and the
  /// signals are nearly the same.
  package var isShifted: Bool { lag != 0 && rmsAtLag <= rms / 10 && correlationAtLag >= 0.99 }

  private static func measures(
    _ golden: [Double], _ actual: [Double], lag: Int
  ) -> (rms: Double, correlation: Double) {
    let count = golden.count - abs(lag)
    guard count > 0 else { return (0, 1) }
    let (mine, theirs) = (max(0, -lag), max(0, lag))
    var (meanGolden, meanActual, squares) = (0.0, 0.0, 0.0)
    for index in 0..<count {
      let (left, right) = (golden[mine + index], actual[theirs + index])
      meanGolden += left
      meanActual += right
      squares += (right - left) * (right - left)
    }
    meanGolden /= Double(count)
    meanActual /= Double(count)
    var (product, powerGolden, powerActual) = (0.0, 0.0, 0.0)
    for index in 0..<count {
      let left = golden[mine + index] - meanGolden
      let right = actual[theirs + index] - meanActual
      product += left * right
      powerGolden += left * left
      powerActual += right * right
    }
    let rms = (squares / Double(count)).squareRoot()
    guard powerGolden > 0, powerActual > 0 else {
      return (rms, powerGolden == powerActual ? 1 : 0)
    }
    return (rms, product / (powerGolden * powerActual).squareRoot())
  }
}
