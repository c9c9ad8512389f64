import RetakeCore

/// A budget of the golden, and its use by the run.
package struct BudgetResult: Hashable, Sendable, Codable {
  package var name: String
  package var spent: Int
  package var allowed: Int
  package var unit: Unit
  /// Whether `allowed` is the least that is allowed instead of the most.
  package var isMinimum: Bool

  package enum Unit: String, Hashable, Sendable, Codable {
    case count
    /// Virtual time, which is exact.
    case nanoseconds
    /// Of a metric of labels, which is compared to six decimals.
    case millionths
  }

  package init(
    name: String, spent: Int, allowed: Int, unit: Unit = .count, isMinimum: Bool = false
  ) {
    self.name = name
    self.spent = spent
    self.allowed = allowed
    self.unit = unit
    self.isMinimum = isMinimum
  }

  package var isMet: Bool { isMinimum ? spent >= allowed : spent <= allowed }
}
