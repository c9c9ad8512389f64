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
    /// A value is larger than any of a session's.
    package var isAboutSize = false
  }

  /// At most this many complaints of each kind.
  package static let complaintCount = 100

  /// What `checkStructure`, `checkRows` and `checkReferences` find, in this order.
  ///
  /// Where a value is larger than any of a session's only `checkRows` is asked: that is damage enough,
  /// and SQLite reads the whole value again for each row that refers to its row.
  package func checkContent() throws(StoreError) -> [Complaint] {
    let rows = try checkRows()
    guard !rows.contains(where: \.isAboutSize) else { return rows }
    return try checkStructure() + rows + checkReferences()
  }

  /// SQLite's integrity check (which also finds values that break a column's rule).
  func checkStructure() throws(StoreError) -> [Complaint] {
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
  func checkReferences() throws(StoreError) -> [Complaint] {
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
