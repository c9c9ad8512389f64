package import RetakeCore

/// The result of a sweep: a row for each combination.
package struct SweepReport: Hashable, Sendable, Codable {
  package struct Axis: Hashable, Sendable, Codable {
    package var name: String
    package var values: [String]
  }

  package struct Row: Hashable, Sendable, Codable {
    /// In the order of the axes.
    package var values: [String]
    package var figures: RunFigures.Totals
    package var costs: RunSummary.Costs
    package var decisionDigest: Digest128
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
    var figures: [[String]: RunFigures.Totals] = [:]
    return rows.allSatisfy { row in
      var others = row.values
      others.remove(at: axis)
      let known = figures.updateValue(row.figures, forKey: others)
      return known == nil || known == row.figures
    }
  }
}
