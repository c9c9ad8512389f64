/// Weights of the samples of an interval.
package enum Window {
  /// The periodic window of von Hann, sin²(πi / count): copies that overlap by half add up to 1.
  package static func hann(_ count: Int) -> [Double] {
    (0..<count).map { index in
      let sine = Angle(Double(index) / Double(2 * count)).sine
      return sine * sine
    }
  }
}

extension [Double] {
  /// 0 without samples. Added in order, so that it always has the same bits.
  package var mean: Double { isEmpty ? 0 : reduce(0, +) / Double(count) }

  /// Of the samples themselves, divided by their number, as the papers' σ.
  package var deviation: Double {
    let mean = self.mean
    return map { ($0 - mean) * ($0 - mean) }.mean.squareRoot()
  }

  /// The middle value, or the mean of the two in the middle; 0 without samples.
  package var median: Double {
    let ordered = sorted()
    let middle = count / 2
    guard !isEmpty else { return 0 }
    return count.isMultiple(of: 2) ? (ordered[middle - 1] + ordered[middle]) / 2 : ordered[middle]
  }

  /// The median of the distances from the median, in units of a normal distribution's deviation.
  package var medianDeviation: Double {
    let middle = median
    // 1 / Φ⁻¹(3/4).
    return 1.482_602_218_505_602 * map { abs($0 - middle) }.median
  }

  /// Whether a computation with these samples stays within the numbers.
  package var isMeasurable: Bool { allSatisfy { abs($0) <= 1e12 } }
}
