package struct DecisionRecord: Hashable, Sendable {
  package var run: Int
  package var ordinal: Int
  package var line: String

  package init(run: Int, ordinal: Int, line: String) {
    self.run = run
    self.ordinal = ordinal
    self.line = line
  }
}
