/// The duration of a stage for one frame or item: a line of the timings.
package struct SpanRecord: StoredRow {
  package var run = 0
  package var node = ""
  package var track = 0
  package var sequence = 0
  /// −1 for the frame itself.
  package var item = 0
  package var readyNanoseconds: Int64 = 0
  package var startNanoseconds: Int64 = 0
  package var endNanoseconds: Int64 = 0
  /// Processor time of the thread.
  package var cpuNanoseconds: Int64 = 0
  package var executor = ""
  package var outcome = ""

  package init() {}

  package init(
    run: Int, node: String, track: Int, sequence: Int, item: Int = -1, readyNanoseconds: Int64,
    startNanoseconds: Int64, endNanoseconds: Int64, cpuNanoseconds: Int64, executor: String,
    outcome: String
  ) {
    (self.run, self.node, self.track, self.sequence, self.item) = (run, node, track, sequence, item)
    (self.readyNanoseconds, self.startNanoseconds) = (readyNanoseconds, startNanoseconds)
    (self.endNanoseconds, self.cpuNanoseconds) = (endNanoseconds, cpuNanoseconds)
    (self.executor, self.outcome) = (executor, outcome)
  }

  package static let table = Schema.Table(
    "span", keyCount: 5, of: SpanRecord(),
    references: [
      "FOREIGN KEY (\"run\") REFERENCES run (\"run\")"
    ])

  package mutating func visit(_ row: inout RowColumns) throws {
    try row.column("run", &run)
    try row.column("node", &node)
    try row.column("track", &track)
    try row.column("sequence", &sequence)
    try row.column("item", &item, "$ >= -1") { try $0.int(in: -1...RowReader.countMax) }
    try row.time("ready_ns", &readyNanoseconds)
    try row.time("start_ns", &startNanoseconds)
    try row.time("end_ns", &endNanoseconds, "$ >= \"start_ns\"")
    try row.time("cpu_ns", &cpuNanoseconds, "$ >= 0")
    try row.column("executor", &executor)
    try row.column("outcome", &outcome)
  }
}
