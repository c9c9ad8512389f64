/// One decision line that is on one side only, or that moved or changed.
package struct DecisionDifference: Hashable, Sendable, Codable {
  package enum Change: String, Hashable, Sendable, Codable {
    case added
    case removed
    case moved
    case changed
  }

  package var change: Change
  /// The lines as they are in decisions.gold.
  package var golden: String?
  package var actual: String?
  /// For example "2 frames later (66 ms)".
  package var note: String?
  /// The earlier differences that it follows from, nearest first.
  package var because: [String]

  package init(
    _ change: Change, golden: String?, actual: String?, note: String? = nil,
    because: [String] = []
  ) {
    self.change = change
    self.golden = golden
    self.actual = actual
    self.note = note
    self.because = because
  }
}
