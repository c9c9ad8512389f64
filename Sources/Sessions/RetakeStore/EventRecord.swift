/// An event of the device, or a command of the user.
package struct EventRecord: StoredRow {
  package var ordinal = 0
  package var timeNanoseconds: Int64 = 0
  package var track: Int?
  package var source = ""
  package var kind = ""
  /// A JSON object, as a string.
  package var json = ""

  package init() {}

  package init(
    ordinal: Int, timeNanoseconds: Int64, track: Int? = nil, source: String, kind: String,
    json: String = "{}"
  ) {
    (self.ordinal, self.timeNanoseconds, self.track) = (ordinal, timeNanoseconds, track)
    (self.source, self.kind, self.json) = (source, kind, json)
  }

  package static let table = Schema.Table(
    "event", keyCount: 1, of: EventRecord())

  package mutating func visit(_ row: inout RowColumns) throws {
    try row.column("ordinal", &ordinal, "$ >= 0")
    try row.time("time_ns", &timeNanoseconds)
    try row.column("track", &track)
    try row.column("source", &source)
    try row.column("kind", &kind, "$ <> ''")
    try row.column("json", &json)
  }
}
