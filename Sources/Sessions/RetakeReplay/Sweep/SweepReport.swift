package import RetakeCore

/// The result of a sweep: a row for each combination.
package struct SweepReport: Hashable, Sendable, Codable {
  package struct Axis: Hashable, Sendable, Codable {
    package var name: String
    package var values: [String]
  }

  /// A number that reached a sink, and the effect of dropped and throttled frames on it.
  package struct Number: Hashable, Sendable, Codable {
    package var sink: String
    package var name: String
    /// The number of frames with a delivered value.
    package var frames: Int
    /// `nil` if no value was delivered.
    package var mean: Double?
    /// The mean distance from the same frame's number in an every-frame run, over the frames for
    /// which both runs have one; `nil` if there is no such frame.
    package var meanError: Double?
    /// The largest of these distances.
    package var largestError: Double?
  }

  package struct Row: Hashable, Sendable, Codable {
    /// In the order of the axes.
    package var values: [String]
    package var figures: RunFigures.Totals
    package var costs: RunSummary.Costs
    package var decisionDigest: Digest128
    /// Sorted by sink and name; `nil` if the caller did not request numbers.
    package var numbers: [Number]?
  }

  package var v = 1
  package var session: String?
  package var caseName: String
  package var pipeline: String
  package var seed: UInt64
  package var axes: [Axis]
  /// The last axis changes fastest.
  package var rows: [Row]

  private enum CodingKeys: String, CodingKey {
    case v, session, caseName = "case", pipeline, seed, axes, rows
  }

  /// The axes with several values whose value makes no difference to any figure.
  package var idleAxes: [String] {
    axes.indices.filter { axes[$0].values.count > 1 && isIdle($0) }.map { axes[$0].name }
  }

  private func isIdle(_ axis: Int) -> Bool {
    var first: [[String]: Row] = [:]
    return rows.allSatisfy { row in
      var others = row.values
      others.remove(at: axis)
      let known = first.updateValue(row, forKey: others) ?? row
      return known.figures == row.figures && known.numbers == row.numbers
    }
  }
}
