import RetakeCore

/// The result of a sweep: a row for each combination.
public struct SweepReport: Hashable, Sendable, Codable {
  public struct Axis: Hashable, Sendable, Codable {
    public var name: String
    public var values: [String]
  }

  public struct Row: Hashable, Sendable, Codable {
    /// In the order of the axes.
    public var values: [String]
    public var figures: RunFigures.Totals
    public var costs: RunSummary.Costs
    public var decisionDigest: Digest128
  }

  public var v = 1
  public var session: String?
  public var caseName: String
  public var pipeline: String
  public var seed: UInt64
  public var axes: [Axis]
  /// The last axis changes fastest.
  public var rows: [Row]

  private enum CodingKeys: String, CodingKey {
    case v, session, caseName = "case", pipeline, seed, axes, rows
  }

  /// The axes with several values whose value makes no difference to any figure.
  public var idleAxes: [String] {
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
