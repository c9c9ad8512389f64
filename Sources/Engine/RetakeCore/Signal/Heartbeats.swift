/// The beats of a band-passed pulse, and how much the time between them varies.
package struct Heartbeats: Hashable, Sendable {
  /// When each beat is at its highest, in seconds from the first sample.
  package let times: [Double]

  /// The share of the mean period in which a second peak belongs to the same beat.
  private static let refractory = 0.6
  /// How far an interval may be from the median, as a share of it.
  private static let spread = 0.3

  /// Finds the local maxima above zero, the highest first; a maximum within 0.6 periods of a higher
  /// maximum is skipped. Maxima below a quarter of the median height are noise. A parabola refines
  /// each time.
  ///
  /// - Parameters:
  ///   - samples: Around zero.
  ///   - rate: Samples per second.
  ///   - beatsPerMinute: As `PulseFinder` found it.
  package init(in samples: [Double], rate: Double, beatsPerMinute: Double) {
    guard samples.count > 2, samples.isMeasurable, rate > 0, beatsPerMinute > 0 else {
      times = []
      return
    }
    let gap = Int(min(Double(samples.count), Self.refractory * rate * 60 / beatsPerMinute))
    let found = Self.peaks(of: samples, apart: gap)
    let floor = found.map { samples[$0] }.median / 4
    times = found.filter { samples[$0] >= floor }.map { Self.place(of: $0, in: samples) / rate }
  }

  /// In the order of time.
  private static func peaks(of samples: [Double], apart gap: Int) -> [Int] {
    let tops = (1..<samples.count - 1).filter {
      samples[$0] > 0 && samples[$0] > samples[$0 - 1] && samples[$0] >= samples[$0 + 1]
    }
    var isTaken = [Bool](repeating: false, count: samples.count)
    var found: [Int] = []
    // Of equal heights the earlier comes first: `sorted` does not promise to keep their order.
    for top in tops.sorted(by: { (samples[$1], $0) < (samples[$0], $1) }) where !isTaken[top] {
      found.append(top)
      for index in max(0, top - gap)...min(samples.count - 1, top + gap) { isTaken[index] = true }
    }
    return found.sorted()
  }

  private static func place(of top: Int, in samples: [Double]) -> Double {
    let curve = samples[top - 1] - 2 * samples[top] + samples[top + 1]
    return Double(top) + (samples[top - 1] - samples[top + 1]) / (2 * curve)
  }

  /// All times between beats, in milliseconds; `nil` for an interval that differs from the median
  /// by more than 30 percent: a beat was missed there, or found twice.
  private var intervals: [Double?] {
    let all = zip(times.dropFirst(), times).map { ($0 - $1) * 1_000 }
    let middle = all.median
    return all.map { abs($0 - middle) <= Self.spread * middle ? $0 : nil }
  }

  /// The variation between beats, as the Task Force of the European Society of Cardiology defines
  /// it (European Heart Journal 17, 1996); `nil` if fewer than `intervalsMin` intervals are within
  /// the limit, if more than three tenths are outside, or if no two neighboring intervals are
  /// within.
  package func variability(intervalsMin: Int = 5) -> Variability? {
    let intervals = self.intervals
    let kept = intervals.compactMap { $0 }
    let steps = zip(intervals.dropFirst(), intervals).compactMap { pair -> Double? in
      guard let later = pair.0, let earlier = pair.1 else { return nil }
      return later - earlier
    }
    guard kept.count >= max(2, intervalsMin), 10 * kept.count >= 7 * intervals.count,
      !steps.isEmpty
    else { return nil }
    let mean = kept.mean
    let squares = kept.map { ($0 - mean) * ($0 - mean) }.reduce(0, +)
    return Variability(
      intervalCount: kept.count, meanMilliseconds: mean,
      rmssdMilliseconds: steps.map { $0 * $0 }.mean.squareRoot(),
      sdnnMilliseconds: (squares / Double(kept.count - 1)).squareRoot())
  }
}

/// How the time between beats varies.
package struct Variability: Hashable, Sendable {
  package var intervalCount: Int
  package var meanMilliseconds: Double
  /// The root of the mean square of the differences between neighboring intervals.
  package var rmssdMilliseconds: Double
  /// The standard deviation of the intervals, of a sample: divided by their number less one.
  package var sdnnMilliseconds: Double
}
