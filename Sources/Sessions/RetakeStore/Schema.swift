/// The exact tables of session.sqlite.
///
/// A reader compares these statements with the statements in the file, so a change here is a new
/// schema version. References are declared for readers and for the check. The writer does not
/// enforce them, so that a recording never fails because of them.
///
/// Schema 1 had no `row_check`, before schema 3 a frame did not store which picture of its packet
/// it is (`shown`), and before schema 4 there were no sensors; everything else is the same.
package enum Schema {
  static let version: Int64 = 4
  /// The oldest version that can be read and migrated.
  static let oldestVersion: Int64 = 1

  /// In the order in which their tables are created, dumped and checked.
  static let records: [any StoredRow.Type] = [
    FactRecord.self, SegmentRecord.self, SegmentTrackRecord.self, PacketRecord.self,
    FrameRecord.self, EventRecord.self, FileRecord.self, RunRecord.self, NodeRecord.self,
    SpanRecord.self, ExternalEventRecord.self, DecisionRecord.self, ResultRecord.self,
    SensorRecord.self, SampleRecord.self,
  ]
  /// The records that do not depend on how frames are stored, without facts and runs.
  static let accounts: [any StoredRow.Type] = [
    EventRecord.self, NodeRecord.self, SpanRecord.self, ExternalEventRecord.self,
    DecisionRecord.self, ResultRecord.self, SensorRecord.self, SampleRecord.self,
  ]
  static let tables: [Table] = records.map { $0.table }

  /// The tables that a version has.
  static func tables(version: Int64) -> [Table] { tables.filter { $0.firstVersion <= version } }

  /// One table: its columns in order; the first `keyCount` of them are the primary key.
  package struct Table: Sendable {
    var name: String
    var keyCount: Int
    var columns: [Column]
    var references: [String] = []
    /// The first schema version with this table.
    var firstVersion: Int64 = 1

    struct Column: Sendable {
      var name: String
      var rule: String
      /// The first schema version with this column. Columns that were added later follow all
      /// others.
      var firstVersion: Int64

      init(_ name: String, _ rule: String, since firstVersion: Int64 = 1) {
        self.name = name
        self.rule = rule
        self.firstVersion = firstVersion
      }
    }

    /// Number of columns that a schema version stores, without the checksum.
    func columnCount(version: Int64) -> Int { columns.count { $0.firstVersion <= version } }

    /// All columns; 0 replaces the columns that an older schema lacks.
    private func columnList(version: Int64) -> String {
      columns.map { $0.firstVersion <= version ? "\"\($0.name)\"" : "0" }.joined(separator: ", ")
    }

    private func storedColumnList(version: Int64) -> String {
      stored(version: version).map { "\"\($0.name)\"" }.joined(separator: ", ")
    }

    var keyList: String {
      columns.prefix(keyCount).map { "\"\($0.name)\"" }.joined(separator: ", ")
    }

    func createSQL(version: Int64) -> String {
      let lines =
        stored(version: version).map { "\"\($0.name)\" \($0.rule)" }
        + ["PRIMARY KEY (\(keyList))"] + references
      // STRICT: a value that does not fit its column's type is refused (SQLite, STRICT Tables).
      // WITHOUT ROWID: rows are stored in the order of their key, and readers page by key.
      return "CREATE TABLE \(name) (\(lines.joined(separator: ", "))) STRICT, WITHOUT ROWID"
    }

    func insertSQL(version: Int64) -> String {
      let names = storedColumnList(version: version)
      let marks = stored(version: version).map { _ in "?" }.joined(separator: ", ")
      return "INSERT INTO \(name) (\(names)) VALUES (\(marks))"
    }

    func replaceSQL(version: Int64) -> String {
      "INSERT OR REPLACE" + insertSQL(version: version).dropFirst("INSERT".count)
    }

    /// Each row with all columns of the current schema.
    func selectSQL(version: Int64) -> String {
      "SELECT \(columnList(version: version)) FROM \(name)"
    }

    /// Each row as it is stored, followed by its checksum if the schema has one.
    func selectStoredSQL(version: Int64) -> String {
      "SELECT \(storedColumnList(version: version)) FROM \(name)"
    }

    private func stored(version: Int64) -> [Column] {
      let known = columns.filter { $0.firstVersion <= version }
      return version >= Schema.firstVersionWithChecks ? known + [Schema.rowCheck] : known
    }

    /// The stored row with a given key, without its checksum.
    func selectByKeySQL(version: Int64) -> String {
      let terms = columns.prefix(keyCount).map { "\"\($0.name)\" = ?" }
      let names = columns.prefix(columnCount(version: version)).map { "\"\($0.name)\"" }
      return "SELECT \(names.joined(separator: ", ")) FROM \(name) WHERE "
        + terms.joined(separator: " AND ")
    }
  }

  /// The lower half of the row's XXH3-128, in every table, so that the check can find a damaged
  /// row.
  static let rowCheck = Table.Column("row_check", "INTEGER NOT NULL")
  static let firstVersionWithChecks: Int64 = 2
  /// In earlier versions, a frame's rank among the rows of its packet determines its picture.
  static let firstVersionWithShown: Int64 = 3
  static let firstVersionWithSensors: Int64 = 4
}
