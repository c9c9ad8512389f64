import RetakeCore

/// Finds how the clocks of two recordings relate, from the sound that both have.
///
/// The beginnings of sounds, every few milliseconds, are correlated first: that tells about where
/// the recordings overlap. From there, pieces of a quarter of a second are correlated sample by
/// sample, all along the recordings: their lags lie on a line, whose slope is the drift.
package struct SoundAlignment {
  let first: SoundTrack
  let second: SoundTrack

  package init(_ first: SoundTrack, _ second: SoundTrack) {
    (self.first, self.second) = (first, second)
  }

  /// Samples of a piece, and how far it is moved to either side.
  private static let pieceSamples = 4_096
  private static let marginSamples = 1_536
  private static let piecesMax = 128
  /// The normalized correlation from which a piece counts.
  private static let clarityMin = 0.25
  /// In seconds.
  private static let tolerance = 0.001
  /// A second peak of this part of the highest one is as good an answer.
  private static let ambiguityMin = 0.9
  /// Another fit of this part of the best one's confidence is as good an answer.
  private static let repeatMin = 0.8
  /// Places where the recordings may overlap that are tried.
  private static let candidatesMax = 6
  /// Places closer than this are one, in hops: a piece is moved about as far to either side.
  private static let candidateHops = 9
  /// Fits whose offsets are further apart are two answers, in nanoseconds.
  private static let apart: Int64 = 10_000_000

  /// The result of comparing the sound of both recordings.
  package enum Answer: Hashable, Sendable {
    case fit(ClockFit)
    /// The sound fits at several places about equally well, such as a tone, a hum, or a beep each
    /// second.
    case repeats
    /// The sounds do not agree anywhere.
    case nothing
  }

  /// Compares the sound of both.
  package func answer() -> Answer {
    let (a, b) = (Self.emphasized(first.samples), Self.emphasized(second.samples))
    var isPeriodic = false
    let fits = roughLags().compactMap { lag -> ClockFit? in
      let found = follow(lag, a, b)
      isPeriodic = isPeriodic || found.ambiguous > found.pairs.count
      return ClockFit.fitted(found.pairs, tolerance: Self.tolerance)
    }
    func weight(_ fit: ClockFit) -> Double { fit.confidence * Double(fit.observations) }
    guard var best = fits.max(by: { weight($0) < weight($1) }) else {
      return isPeriodic ? .repeats : .nothing
    }
    let others = fits.filter { abs($0.offsetNanoseconds &- best.offsetNanoseconds) > Self.apart }
    // A sound that repeats fits at several places, and the right place is unknown. The longest
    // overlap has the most pieces, which does not prove its place either.
    let isRepeated = others.contains {
      $0.observations * 4 >= best.observations
        && $0.confidence >= best.confidence * Self.repeatMin
    }
    if isRepeated { return .repeats }
    let other = others.map(weight).max() ?? 0
    best.confidence *= 1 - min(1, other / max(weight(best), .leastNormalMagnitude))
    return .fit(best)
  }

  /// - Returns: nil if the sounds do not agree, or if they agree at several places.
  package func fit() -> ClockFit? {
    guard case .fit(let fit) = answer() else { return nil }
    return fit
  }

  /// Differences between samples: sounds are strongest where they say least about time.
  private static func emphasized(_ samples: [Float]) -> [Float] {
    var last: Float = 0
    return samples.map { sample in
      defer { last = sample }
      return sample - 0.97 * last
    }
  }

  // MARK: About where they overlap

  /// By how many samples the same sound is later in the second recording, the likeliest first.
  private func roughLags() -> [Int] {
    var hop = SoundTrack.rate / 100
    // Both onsets have to fit into a transform.
    while (first.samples.count + second.samples.count) / hop >= FourierTransform.sizeMax {
      hop *= 2
    }
    let (a, b) = (Self.onsets(first.samples, hop), Self.onsets(second.samples, hop))
    guard a.count > 2, b.count > 2 else { return [] }
    var size = 2
    while size < a.count + b.count { size *= 2 }
    let correlation = FourierTransform(size: size).correlation(of: a, with: b)
    var lags: [Int] = []
    var values = correlation
    // Bounded: each round removes one peak and its surroundings.
    while lags.count < Self.candidatesMax {
      guard let peak = values.indices.max(by: { values[$0] < values[$1] }), values[peak] > 0 else {
        break
      }
      lags.append((peak < b.count ? peak : peak - size) * hop)
      for place in peak - Self.candidateHops...peak + Self.candidateHops {
        values[(place % size + size) % size] = 0
      }
    }
    return lags
  }

  /// How much louder each hop is than the hop before, as a logarithm; without the mean.
  private static func onsets(_ samples: [Float], _ hop: Int) -> [Double] {
    var last: Double?
    var onsets = stride(from: 0, to: samples.count - hop + 1, by: hop).map { start -> Double in
      var sum = 0.0
      for index in start..<start + hop { sum += Double(samples[index]) * Double(samples[index]) }
      // The exponent and the fraction of the number: a logarithm that every machine computes alike.
      let power = sum / Double(hop) + 1e-9
      let level = Double(power.exponent) + power.significand - 1
      defer { last = level }
      return max(0, level - (last ?? level))
    }
    let mean = onsets.reduce(0, +) / Double(max(1, onsets.count))
    for index in onsets.indices { onsets[index] -= mean }
    return onsets
  }

  // MARK: Along the recordings

  /// Pieces from the middle of the overlap to both ends: each piece is looked for where the last
  /// clear piece was found, so that a drift is followed.
  ///
  /// - Returns: The clear pieces, and the number of pieces that fit at several places.
  private func follow(
    _ lag: Int, _ a: [Float], _ b: [Float]
  ) -> (pairs: [ClockPair], ambiguous: Int) {
    let (piece, margin) = (Self.pieceSamples, Self.marginSamples)
    let low = max(0, margin - lag)
    let high = min(a.count, b.count - lag - margin) - piece
    guard high > low else { return ([], 0) }
    let count = min(Self.piecesMax, (high - low) / piece + 1)
    let starts = (0..<count).map { low + (high - low) * $0 / max(1, count - 1) }
    let transform = FourierTransform(size: 8_192)
    var pairs: [ClockPair] = []
    var ambiguous = 0
    let middle = starts.count / 2
    for order in [Array(starts[middle...]), starts[..<middle].reversed()] {
      var expected = lag
      for start in order {
        guard let found = match(start, expected, a, b, transform) else { continue }
        guard !found.isAmbiguous else {
          ambiguous += 1
          continue
        }
        expected = Int(found.lag.rounded())
        pairs.append(
          ClockPair(
            first: first.start + Double(start + piece / 2) / Double(SoundTrack.rate),
            second: second.start
              + (Double(start + piece / 2) + found.lag) / Double(SoundTrack.rate),
            clarity: found.clarity))
      }
    }
    return (pairs, ambiguous)
  }

  /// Where a piece of the first recording is in the second, to a fraction of a sample.
  private func match(
    _ start: Int, _ expected: Int, _ a: [Float], _ b: [Float], _ transform: FourierTransform
  ) -> (lag: Double, clarity: Double, isAmbiguous: Bool)? {
    let (piece, margin) = (Self.pieceSamples, Self.marginSamples)
    let from = start + expected - margin
    guard from >= 0, from + piece + 2 * margin <= b.count else { return nil }
    let mine = a[start..<start + piece].map(Double.init)
    let theirs = b[from..<from + piece + 2 * margin].map(Double.init)
    let energy = mine.reduce(0) { $0 + $1 * $1 }
    guard energy > 1e-9 else { return nil }
    let correlation = transform.correlation(of: mine, with: theirs)
    var window = theirs[..<piece].reduce(0) { $0 + $1 * $1 }
    var best: (lag: Int, clarity: Double) = (0, 0)
    var clarities = [Double](repeating: 0, count: 2 * margin + 1)
    for lag in 0...2 * margin {
      if window > 1e-9 {
        let clarity = correlation[lag] / (energy * window).squareRoot()
        clarities[lag] = clarity
        if clarity > best.clarity { best = (lag, clarity) }
      }
      guard lag < 2 * margin else { break }
      window += theirs[lag + piece] * theirs[lag + piece] - theirs[lag] * theirs[lag]
    }
    // At the edge the true peak may be outside.
    guard best.clarity >= Self.clarityMin, best.lag > 0, best.lag < 2 * margin else { return nil }
    let (before, peak, after) = (
      correlation[best.lag - 1], correlation[best.lag], correlation[best.lag + 1]
    )
    // The top of the parabola through three samples.
    let bend = before - 2 * peak + after
    let part = bend < 0 ? max(-0.5, min(0.5, (before - after) / (2 * bend))) : 0
    return (
      Double(expected - margin + best.lag) + part, min(1, best.clarity),
      Self.isAmbiguous(clarities, at: best.lag)
    )
  }

  /// Whether another peak is about as high as the highest one, as with a tone: it fits again after
  /// each of its periods.
  private static func isAmbiguous(_ clarities: [Double], at peak: Int) -> Bool {
    let half = clarities[peak] / 2
    // Past the slopes of the peak itself, which is wide if the sound is low.
    let before = clarities[..<peak].lastIndex { $0 < half } ?? 0
    let after = clarities[peak...].firstIndex { $0 < half } ?? clarities.count
    let other = max(clarities[..<before].max() ?? 0, clarities[after...].max() ?? 0)
    return other >= clarities[peak] * ambiguityMin
  }
}
