/// The exact tables of session.sqlite.
///
/// A reader compares these statements with the statements in the file, so a change here is a new
/// schema version. References are declared for readers and for the doctor. The writer does not
/// enforce them, so that a recording never fails because of them.
///
/// Schema 1 had no `row_check`, before schema 3 a frame did not store which picture of its packet
/// it is (`shown`), and before schema 4 there were no sensors; everything else is the same.
enum Schema {
  static let version: Int64 = 4
  /// The oldest version that can be read and migrated.
  static let oldestVersion: Int64 = 1

  /// In the order in which they are created, dumped and checked.
  static let tables: [Table] = [
    meta, segment, segmentTrack, packet, frame, event, file, run, node, span, externalEvent,
    decision, result, sensor, sample,
  ]

  /// The tables that a version has.
  static func tables(version: Int64) -> [Table] { tables.filter { $0.firstVersion <= version } }

  /// One table: its columns in order; the first `keyCount` of them are the primary key.
  struct Table: Sendable {
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

  /// The lower half of the row's XXH3-128, in every table, so that the doctor can find a damaged
  /// row.
  static let rowCheck = Table.Column("row_check", "INTEGER NOT NULL")
  static let firstVersionWithChecks: Int64 = 2
  /// In earlier versions, a frame's rank among the rows of its packet determines its picture.
  static let firstVersionWithShown: Int64 = 3
  static let firstVersionWithSensors: Int64 = 4

  static let meta = Table(
    name: "meta", keyCount: 1,
    columns: [
      .init("key", "TEXT NOT NULL CHECK (\"key\" <> '')"),
      .init("value", "TEXT NOT NULL"),
    ])

  static let segment = Table(
    name: "segment", keyCount: 1,
    columns: [
      .init("index", "INTEGER NOT NULL CHECK (\"index\" >= 0)"),
      .init("file", "TEXT NOT NULL CHECK (\"file\" <> '')"),
      .init("started_ns", "INTEGER NOT NULL"),
      .init("closed", "INTEGER NOT NULL CHECK (\"closed\" IN (0, 1))"),
      .init("bytes", "INTEGER NOT NULL CHECK (\"bytes\" >= 0)"),
      .init("reason", "TEXT"),
    ])

  static let segmentTrack = Table(
    name: "segment_track", keyCount: 2,
    columns: [
      .init("segment", "INTEGER NOT NULL"),
      .init("track", "INTEGER NOT NULL CHECK (\"track\" >= 0)"),
      .init("stream_index", "INTEGER NOT NULL CHECK (\"stream_index\" >= 0)"),
      .init("codec", "TEXT NOT NULL CHECK (\"codec\" <> '')"),
      .init("profile", "INTEGER"),
      .init("extradata", "BLOB"),
      .init("width", "INTEGER NOT NULL CHECK (\"width\" > 0)"),
      .init("height", "INTEGER NOT NULL CHECK (\"height\" > 0)"),
      .init("pixel_format", "TEXT NOT NULL CHECK (\"pixel_format\" <> '')"),
      .init("range", "TEXT CHECK (\"range\" IN ('limited', 'full'))"),
      .init("matrix", "TEXT CHECK (\"matrix\" IN ('bt601', 'bt709', 'bt2020', 'identity'))"),
      .init("rotation", "INTEGER NOT NULL CHECK (\"rotation\" IN (0, 90, 180, 270))"),
      .init("aspect_numerator", "INTEGER NOT NULL CHECK (\"aspect_numerator\" > 0)"),
      .init("aspect_denominator", "INTEGER NOT NULL CHECK (\"aspect_denominator\" > 0)"),
      .init("time_base_numerator", "INTEGER NOT NULL CHECK (\"time_base_numerator\" > 0)"),
      .init("time_base_denominator", "INTEGER NOT NULL CHECK (\"time_base_denominator\" > 0)"),
      .init("delay", "INTEGER NOT NULL CHECK (\"delay\" >= 0)"),
    ], references: ["FOREIGN KEY (\"segment\") REFERENCES segment (\"index\")"])

  static let packet = Table(
    name: "packet", keyCount: 2,
    columns: [
      .init("track", "INTEGER NOT NULL CHECK (\"track\" >= 0)"),
      .init("index", "INTEGER NOT NULL CHECK (\"index\" >= 0)"),
      .init("segment", "INTEGER NOT NULL"),
      .init("ordinal", "INTEGER NOT NULL CHECK (\"ordinal\" >= 0)"),
      .init("pts", "INTEGER"),
      .init("dts", "INTEGER"),
      .init("duration", "INTEGER NOT NULL"),
      .init("flags", "INTEGER NOT NULL CHECK (\"flags\" BETWEEN 0 AND 7)"),
      .init("size", "INTEGER NOT NULL CHECK (\"size\" >= 0)"),
      .init("digest", "BLOB NOT NULL CHECK (length(\"digest\") = 16)"),
      .init("offset", "INTEGER CHECK (\"offset\" >= 0)"),
      .init("side_data", "BLOB"),
    ],
    references: [
      "FOREIGN KEY (\"segment\", \"track\") REFERENCES segment_track (\"segment\", \"track\")"
    ])

  static let frame = Table(
    name: "frame", keyCount: 2,
    columns: [
      .init("track", "INTEGER NOT NULL CHECK (\"track\" >= 0)"),
      .init("sequence", "INTEGER NOT NULL CHECK (\"sequence\" >= 0)"),
      .init("pts", "INTEGER"),
      .init("pts_ns", "INTEGER NOT NULL"),
      .init("arrival_ns", "INTEGER NOT NULL"),
      .init("packet", "INTEGER"),
      .init("entry", "INTEGER CHECK (\"entry\" <= \"packet\")"),
      .init("pixel_hash", "BLOB CHECK (length(\"pixel_hash\") = 16)"),
      .init("cause", "TEXT CHECK (\"cause\" <> '')"),
      .init("assumed", "INTEGER NOT NULL CHECK (\"assumed\" BETWEEN 0 AND 255)"),
      .init("shown", "INTEGER NOT NULL CHECK (\"shown\" >= 0)", since: firstVersionWithShown),
    ],
    references: [
      "FOREIGN KEY (\"track\", \"packet\") REFERENCES packet (\"track\", \"index\")",
      "FOREIGN KEY (\"track\", \"entry\") REFERENCES packet (\"track\", \"index\")",
    ])

  static let event = Table(
    name: "event", keyCount: 1,
    columns: [
      .init("ordinal", "INTEGER NOT NULL CHECK (\"ordinal\" >= 0)"),
      .init("time_ns", "INTEGER NOT NULL"),
      .init("track", "INTEGER"),
      .init("source", "TEXT NOT NULL"),
      .init("kind", "TEXT NOT NULL CHECK (\"kind\" <> '')"),
      .init("json", "TEXT NOT NULL"),
    ])

  static let file = Table(
    name: "file", keyCount: 1,
    columns: [
      .init("path", "TEXT NOT NULL CHECK (\"path\" <> '')"),
      .init("role", "TEXT NOT NULL CHECK (\"role\" <> '')"),
      .init("sha256", "BLOB NOT NULL CHECK (length(\"sha256\") = 32)"),
    ])
}
