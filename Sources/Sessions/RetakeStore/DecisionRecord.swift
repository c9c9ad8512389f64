package struct DecisionRecord: StoredRow {
  package var run = 0
  package var ordinal = 0
  package var line = ""

  package init() {}

  package init(run: Int, ordinal: Int, line: String) {
    (self.run, self.ordinal, self.line) = (run, ordinal, line)
  }

  package static let table = Schema.Table(
    "decision", keyCount: 2, of: DecisionRecord(),
    references: [
      "FOREIGN KEY (\"run\") REFERENCES run (\"run\")"
    ])

  package mutating func visit(_ row: inout RowColumns) throws {
    try row.column("run", &run)
    try row.column("ordinal", &ordinal, "$ >= 0")
    try row.column("line", &line)
  }
}
