package struct NodeRecord: StoredRow {
  package var run = 0
  package var node = ""
  package var kind = ""
  package var version = ""
  /// A JSON object, as a string.
  package var options = ""

  package init() {}

  package init(run: Int, node: String, kind: String, version: String, options: String = "{}") {
    (self.run, self.node, self.kind, self.version) = (run, node, kind, version)
    self.options = options
  }

  package static let table = Schema.Table(
    "node", keyCount: 2, of: NodeRecord(),
    references: [
      "FOREIGN KEY (\"run\") REFERENCES run (\"run\")"
    ])

  package mutating func visit(_ row: inout RowColumns) throws {
    try row.column("run", &run)
    try row.column("node", &node, "$ <> ''")
    try row.column("kind", &kind)
    try row.column("version", &version)
    try row.column("options", &options)
  }
}
