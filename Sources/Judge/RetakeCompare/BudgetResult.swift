import RetakeCore

/// A budget of the golden, and its use by the run.
package struct BudgetResult: Hashable, Sendable, Codable {
  package var name: String
  package var spent: Int
  package var allowed: Int
  package var unit: Unit

  package enum Unit: String, Hashable, Sendable, Codable {
    case count
    /// Virtual time, which is exact.
    case nanoseconds
  }

  package init(name: String, spent: Int, allowed: Int, unit: Unit = .count) {
    self.name = name
    self.spent = spent
    self.allowed = allowed
    self.unit = unit
  }
}
