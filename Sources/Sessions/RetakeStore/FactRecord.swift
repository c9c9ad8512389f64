/// A fact about the session: a row of `meta`.
struct FactRecord: StoredRow {
  var key = ""
  var value = ""

  static let table = Schema.Table("meta", keyCount: 1, of: FactRecord())

  mutating func visit(_ row: inout RowColumns) throws {
    try row.column("key", &key, "$ <> ''")
    try row.column("value", &value)
  }
}
