package struct ResultRecord: StoredRow {
  package var run = 0
  package var ordinal = 0
  package var sink = ""
  package var line = ""

  package init() {}

  package init(run: Int, ordinal: Int, sink: String, line: String) {
    (self.run, self.ordinal, self.sink, self.line) = (run, ordinal, sink, line)
  }

  package static let table = Schema.Table(
    "result", keyCount: 2, of: ResultRecord(),
    references: [
      "FOREIGN KEY (\"run\") REFERENCES run (\"run\")"
    ])

  package mutating func visit(_ row: inout RowColumns) throws {
    try row.column("run", &run)
    try row.column("ordinal", &ordinal, "$ >= 0")
    try row.column("sink", &sink)
    try row.column("line", &line)
  }
}
