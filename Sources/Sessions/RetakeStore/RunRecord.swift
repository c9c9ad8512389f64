/// One run of a live pipeline over the recorded frames.
package struct RunRecord: StoredRow {
  package var run = 0
  package var kind = ""
  /// The pipeline document, as JSON.
  package var pipeline = ""
  package var startedNanoseconds: Int64 = 0
  /// Further facts about the run, as a JSON object.
  package var json = ""

  /// A run of which only the results of the kept frames are stored.
  package static let comparedKind = "compared"

  package init() {}

  package init(
    run: Int, kind: String, pipeline: String, startedNanoseconds: Int64, json: String = "{}"
  ) {
    (self.run, self.kind, self.pipeline) = (run, kind, pipeline)
    (self.startedNanoseconds, self.json) = (startedNanoseconds, json)
  }

  package static let table = Schema.Table(
    "run", keyCount: 1, of: RunRecord())

  package mutating func visit(_ row: inout RowColumns) throws {
    try row.column("run", &run, "$ >= 0")
    try row.column("kind", &kind, "$ <> ''")
    try row.column("pipeline", &pipeline)
    try row.time("started_ns", &startedNanoseconds)
    try row.column("json", &json)
  }
}
