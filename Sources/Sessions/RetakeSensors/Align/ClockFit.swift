/// A line that converts times on one camera's clock to times on another camera's clock.
package struct ClockFit: Hashable, Sendable {
  /// The time on the first clock when the second one shows zero, in nanoseconds.
  package var offsetNanoseconds: Int64
  /// How much faster the first clock runs, in parts per million: 1 s of the second clock is
  /// 1 s + drift × 1 µs of the first.
  package var driftPPM: Double
  /// From 0 to 1: how many of the observations agree, and how clear they are.
  package var confidence: Double
  /// The number of observations that the fit is based on.
  package var observations: Int

  package init(
    offsetNanoseconds: Int64, driftPPM: Double, confidence: Double, observations: Int
  ) {
    self.offsetNanoseconds = offsetNanoseconds
    self.driftPPM = driftPPM
    self.confidence = confidence
    self.observations = observations
  }

  /// A time of the second clock on the first one.
  package func time(_ nanoseconds: Int64) -> Int64 {
    let drift = (Double(nanoseconds) * driftPPM / 1e6).rounded()
    return nanoseconds + offsetNanoseconds + (Int64(exactly: drift) ?? 0)
  }
}

extension ClockFit {
  /// The line through the pairs that agree.
  ///
  /// A first line has the median of the slopes between pairs that are far apart (Theil 1950), which
  /// a few wrong pairs do not move. Pairs within `tolerance` of it are then fitted by least
  /// squares.
  ///
  /// - Parameter tolerance: In seconds.
  /// - Returns: nil with fewer than three pairs that agree.
  static func fitted(_ pairs: [ClockPair], tolerance: Double) -> ClockFit? {
    guard pairs.count >= 3 else { return nil }
    let pairs = pairs.sorted { $0.second < $1.second }
    var slopes: [Double] = []
    let half = pairs.count / 2
    for index in 0..<(pairs.count - half) {
      let (early, late) = (pairs[index], pairs[index + half])
      let length = late.second - early.second
      guard length > 0 else { continue }
      slopes.append(((late.first - late.second) - (early.first - early.second)) / length)
    }
    guard !slopes.isEmpty else { return nil }
    let slope = median(slopes)
    let offset = median(pairs.map { $0.first - $0.second - slope * $0.second })
    let near = pairs.filter {
      abs($0.first - $0.second - slope * $0.second - offset) <= tolerance
    }
    guard near.count >= 3, let line = leastSquares(near) else { return nil }
    guard abs(line.slope) < slopeMax else { return nil }
    let clarity = near.reduce(0) { $0 + $1.clarity } / Double(near.count)
    guard let nanoseconds = Int64(exactly: (line.offset * 1e9).rounded()) else { return nil }
    return ClockFit(
      offsetNanoseconds: nanoseconds, driftPPM: line.slope * 1e6,
      confidence: Double(near.count) / Double(pairs.count) * min(1, max(0, clarity)),
      observations: near.count)
  }

  /// Ten times more than any quartz clock is wrong.
  private static let slopeMax = 0.002

  private static func leastSquares(
    _ pairs: [ClockPair]
  ) -> (offset: Double, slope: Double)? {
    let count = Double(pairs.count)
    // Around the mean, because times are large compared with the fitted numbers.
    let mean = pairs.reduce(0) { $0 + $1.second } / count
    let meanLag = pairs.reduce(0) { $0 + $1.first - $1.second } / count
    var (products, squares) = (0.0, 0.0)
    for pair in pairs {
      let x = pair.second - mean
      products += x * (pair.first - pair.second - meanLag)
      squares += x * x
    }
    guard squares > 0 else { return nil }
    let slope = products / squares
    return (meanLag - slope * mean, slope)
  }

  private static func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }
}
