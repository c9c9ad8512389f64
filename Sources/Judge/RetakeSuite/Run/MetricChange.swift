import RetakeCompare
import RetakeCore
import RetakeTimePlane

/// How a metric differs between two pipelines, over the sessions that allow it.
package struct MetricChange: Hashable, Sendable, Codable {
  package static let resamples = 10_000

  /// For example `ap50`.
  package var metric: String
  /// The means over the sessions, each with the same weight.
  package var old: Double
  package var new: Double
  /// 95 % of the resamples have a mean difference from `low` to `high`; `nil` for one session.
  package var low: Double?
  package var high: Double?
  package var sessions: Int
  /// `better`, `worse`, or `unclear` if the interval contains 0, or without an interval.
  package var word: String

  /// The mean of new - old.
  package var difference: Double { new - old }

  /// - Parameters:
  ///   - pairs: The values of the old and the new pipeline, a pair for each session; not empty.
  ///   - seed: The same seed returns the same interval.
  init(_ metric: LabelMetric, _ pairs: [(old: Double, new: Double)], seed: UInt64) {
    self.metric = metric.rawValue
    sessions = pairs.count
    let count = Double(pairs.count)
    old = pairs.reduce(0) { $0 + $1.old } / count
    new = pairs.reduce(0) { $0 + $1.new } / count
    let differences = pairs.map { $0.new - $0.old }
    if pairs.count > 1 { (low, high) = Self.interval(differences, metric, seed) }
    word = "unclear"
    guard let low, let high, low > 0 || high < 0 else { return }
    word = (low > 0) == metric.largerIsBetter ? "better" : "worse"
  }

  /// The percentile interval of the bootstrap (Efron 1979): the 2.5th and the 97.5th percentile of
  /// the means of samples that are drawn from the sessions with replacement.
  private static func interval(
    _ differences: [Double], _ metric: LabelMetric, _ seed: UInt64
  ) -> (Double, Double) {
    let node = Draw.hash(ofNode: metric.rawValue)
    let count = UInt64(differences.count)
    let means = (0..<resamples).map { sample -> Double in
      var sum = 0.0
      for item in differences.indices {
        let bits = Draw.bits(
          seed: seed, node: node, sequence: sample, item: item, purpose: .resample)
        sum += differences[Int(bits.multipliedFullWidth(by: count).high)]
      }
      return sum / Double(count)
    }.sorted()
    return (means[resamples / 40], means[resamples - 1 - resamples / 40])
  }
}
