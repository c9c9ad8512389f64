package struct ResultRecord: Hashable, Sendable {
  package var run: Int
  package var ordinal: Int
  package var sink: String
  package var line: String

  package init(run: Int, ordinal: Int, sink: String, line: String) {
    self.run = run
    self.ordinal = ordinal
    self.sink = sink
    self.line = line
  }
}
