/// A limit that the golden sets for a number of the run.
package struct ReportBudget: Hashable, Sendable, Codable {
  package var name: String
  package var limit: Double
  package var actual: Double
  package var unit: String?
  package var met: Bool
  /// Set if `limit` is the least that is allowed instead of the most.
  package var isMinimum: Bool?
}
