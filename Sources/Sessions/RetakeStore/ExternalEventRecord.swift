/// An input of the live decision core, in the order in which it was received.
package struct ExternalEventRecord: StoredRow {
  package var run = 0
  package var ordinal = 0
  package var timeNanoseconds: Int64 = 0
  package var kind = ""
  /// A JSON object, as a string.
  package var json = ""

  package init() {}

  package init(
    run: Int, ordinal: Int, timeNanoseconds: Int64, kind: String, json: String = "{}"
  ) {
    (self.run, self.ordinal, self.timeNanoseconds) = (run, ordinal, timeNanoseconds)
    (self.kind, self.json) = (kind, json)
  }

  package static let table = Schema.Table(
    "external_event", keyCount: 2, of: ExternalEventRecord(),
    references: [
      "FOREIGN KEY (\"run\") REFERENCES run (\"run\")"
    ])

  package mutating func visit(_ row: inout RowColumns) throws {
    try row.column("run", &run)
    try row.column("ordinal", &ordinal, "$ >= 0")
    try row.time("time_ns", &timeNanoseconds)
    try row.column("kind", &kind, "$ <> ''")
    try row.column("json", &json)
  }
}
