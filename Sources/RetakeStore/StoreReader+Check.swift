import GRDB
import RetakeCore

/// What the doctor asks of a database.
extension StoreReader {
  /// One thing that is wrong, in SQLite's or our words.
  package struct Complaint: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable {
      /// SQLite's own integrity check, or a table that cannot be read to its end.
      case structure
      /// A row that refers to a row that is not there.
      case orphan
      /// A row is not the one that was written.
      case row
      /// A row's checksum is damaged; the row itself is not.
      case check
      /// The rows, taken together, are not the ones that were written.
      case digest
    }

    package var kind: Kind
    package var text: String
    /// The damaged row's table.
    package var table: String?
    /// The damaged row's key, where it consists of numbers: track and index, or track and sequence.
    package var key: [Int] = []
  }

  /// At most this many complaints of each kind.
  package static let complaintCount = 100

  /// SQLite's integrity check (which also finds values that break a column's rule).
  package func checkStructure() throws(StoreError) -> [Complaint] {
    do {
      return try read { database in
        try String.fetchAll(database, sql: "PRAGMA integrity_check(\(Self.complaintCount))")
          .filter { $0 != "ok" }.map { Complaint(kind: .structure, text: $0) }
      }
    } catch .corrupt(_, let cause) {
      return [Complaint(kind: .structure, text: cause)]
    }
  }

  /// Rows whose segment, packet or run is missing.
  package func checkReferences() throws(StoreError) -> [Complaint] {
    try read { database in
      var complaints: [Complaint] = []
      for table in Schema.tables {
        let rows = try Row.fetchAll(
          database, sql: "SELECT \"parent\", count(*) FROM pragma_foreign_key_check(?) GROUP BY 1",
          arguments: [table.name])
        for row in rows {
          let parent = String.fromDatabaseValue(row.cells[0]) ?? "?"
          let count = Int.fromDatabaseValue(row.cells[1]) ?? 0
          complaints.append(
            Complaint(
              kind: .orphan, text: "\(count) rows of \(table.name) refer to a missing \(parent)",
              table: table.name))
        }
      }
      return complaints
    }
  }

  /// Every row against its checksum, and the running digest computed again from all of them against
  /// the one stored with the last commit. Where rows have no checksum (schema 1), only the latter.
  package func checkRows() throws(StoreError) -> [Complaint] {
    try read { database in
      var scan = RowScan(version: Int64(schemaVersion), rowCountMax: rowCountMax)
      for table in Schema.tables { scan.run(table, in: database) }
      let stored = try? Self.lastCommit(in: database)
      return scan.complaints(stored: stored)
    }
  }
}

/// Reads every row of a database once.
private struct RowScan {
  let version: Int64
  let rowCountMax: Int
  private var running = RunningDigest()
  private var damaged: [StoreReader.Complaint] = []
  /// Tables that could not be read to their end.
  private var broken: [StoreReader.Complaint] = []

  init(version: Int64, rowCountMax: Int) {
    (self.version, self.rowCountMax) = (version, rowCountMax)
  }

  mutating func run(_ table: Schema.Table, in database: Database) {
    var count = 0
    do {
      let cursor = try Row.fetchCursor(database, sql: table.selectStoredSQL(version: version))
      while let row = try cursor.next() {
        count += 1
        guard count <= rowCountMax else { throw RowDamage(table: table.name, column: "rows") }
        take(row.cells, of: table)
      }
    } catch {
      let cause = (error as? DatabaseError)?.message ?? "it leads round in circles"
      broken.append(
        StoreReader.Complaint(
          kind: .structure, text: "\(table.name) cannot be read behind its row \(count): \(cause)",
          table: table.name))
    }
  }

  private mutating func take(_ stored: [DatabaseValue], of table: Schema.Table) {
    let values = Array(stored.prefix(table.columns.count))
    let digest = RunningDigest.digest(of: values, table: table)
    if table.name != Schema.meta.name || !Self.isWriters(values) { running.add(digest) }
    guard version >= Schema.firstVersionWithChecks, let check = stored.last,
      Int64.fromDatabaseValue(check) != RunningDigest.check(of: digest),
      damaged.count < StoreReader.complaintCount
    else { return }
    let key = values.prefix(table.keyCount)
    damaged.append(
      StoreReader.Complaint(
        kind: .row,
        text: "the row of \(table.name) with \(table.key(of: values)) "
          + "is not the one that was written",
        table: table.name, key: key.compactMap { Int.fromDatabaseValue($0) }))
  }

  /// Rows of meta that the running digest leaves out.
  private static func isWriters(_ values: [DatabaseValue]) -> Bool {
    guard let key = values.first.flatMap({ String.fromDatabaseValue($0) }) else { return false }
    return key != "schema" && StoreWriter.ownKeys.contains(key)
  }

  func complaints(stored: StoreWriter.Commit?) -> [StoreReader.Complaint] {
    guard let stored else {
      let lost = StoreReader.Complaint(
        kind: .digest, text: "the last commit's ordinal or digest is gone", table: "meta")
      return broken + damaged + [lost]
    }
    guard running.value == stored.digest else {
      let text = "the rows' digest is \(running.value), commit \(stored.ordinal) stored "
      let all = StoreReader.Complaint(kind: .digest, text: text + "\(stored.digest)")
      return broken + damaged + [all]
    }
    return broken
      + damaged.map { complaint in
        guard complaint.table != Schema.meta.name else { return complaint }
        var complaint = complaint
        complaint.kind = .check
        complaint.text = complaint.text.replacing(
          "is not the one that was written", with: "is whole, and its checksum is damaged")
        return complaint
      }
  }
}
