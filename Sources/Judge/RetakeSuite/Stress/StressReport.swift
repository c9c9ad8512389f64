package import RetakeCore

/// The result of a stress: a row for each strength of each perturbation.
package struct StressReport: Hashable, Sendable, Codable {
  package struct Row: Hashable, Sendable, Codable {
    /// `nil` for the case without a perturbation.
    package var perturbation: String?
    /// With its unit: `-40%`.
    package var strength: String?
    /// In thousandths of the unit.
    package var thousandths: Int
    /// By name of the column; without the columns that have no number.
    package var values: [String: Double] = [:]
    /// The first frame with another result than the golden's; `nil` if all are equal.
    package var first: String?
    /// `nil` if the replay was not completed.
    package var decisionDigest: Digest128?
    package var resultDigest: Digest128?
    /// Why the replay was not completed.
    package var problem: String?
    /// Repeats this row alone.
    package var command: String
  }

  /// Where results begin to change, on one side of the strength that changes the least.
  package struct Limit: Hashable, Sendable, Codable {
    package var perturbation: String
    /// `up` or `down`.
    package var side: String
    /// The nearest strength at which a result changes, or the replay is not completed; `nil` if no
    /// strength of the range does.
    package var firstChange: String?
    /// By column with a budget: the nearest strength that is over it.
    package var overBudget: [String: String] = [:]
  }

  package struct Budget: Hashable, Sendable, Codable {
    package var column: String
    package var limit: Double
    /// Whether the number must not be below the limit; otherwise not above it.
    package var isLeast: Bool

    /// Parses `changed=10`; `nil` for any other form, and for a column that does not exist.
    package init?(parsing text: String) {
      let parts = text.split(separator: "=", omittingEmptySubsequences: false)
      guard parts.count == 2, let limit = Double(parts[1]), limit.isFinite,
        let known = StressColumn.all.first(where: { $0.name == parts[0] })
      else { return nil }
      (column, self.limit, isLeast) = (known.name, limit, known.isScore)
    }
  }

  package var v = 1
  /// `session/case`
  package var key: String
  package var pipeline: String
  package var seed: UInt64
  package var columns: [String]
  package var budgets: [Budget]
  /// The case without a perturbation comes first.
  package var rows: [Row]
  package var limits: [Limit] = []

  private enum CodingKeys: String, CodingKey {
    case v, key = "case", pipeline, seed, columns, budgets, rows, limits
  }

  /// Leaves out columns without a number in any row.
  ///
  /// - Throws: `SuiteError` for a budget of such a column.
  mutating func keepKnownColumns() throws {
    columns = columns.filter { name in rows.contains { $0.values[name] != nil } }
    guard let budget = budgets.first(where: { !columns.contains($0.column) }) else { return }
    throw SuiteError(
      "suite.stress.noNumber", "no replay of '\(key)' has the number '\(budget.column)'",
      advice: "Metrics need labels of the session: retake label import FILE --session SESSION")
  }

  func isOver(_ budget: Budget, _ row: Row) -> Bool {
    // A replay that was not completed is over every budget.
    guard let value = row.values[budget.column] else { return row.problem != nil }
    return budget.isLeast ? value < budget.limit : value > budget.limit
  }

  /// Adds the limits of one perturbation.
  mutating func addLimits(of axis: StressAxis) {
    let neutral = 1_000 * axis.kind.neutral
    let own = rows.filter { $0.perturbation == axis.kind.rawValue }
    for (side, near) in [
      ("down", own.filter { $0.thousandths < neutral }.reversed()),
      ("up", own.filter { $0.thousandths > neutral }),
    ] where !near.isEmpty {
      var limit = Limit(perturbation: axis.kind.rawValue, side: side)
      limit.firstChange = near.first { $0.first != nil || $0.problem != nil }?.strength
      for budget in budgets {
        limit.overBudget[budget.column] = near.first { isOver(budget, $0) }?.strength
      }
      limits.append(limit)
    }
  }
}
