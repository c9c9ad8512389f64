import GRDB
import RetakeCore

/// What the doctor asks of a database.
extension StoreReader {
  /// One thing that is wrong, in SQLite's or our words.
  package struct Complaint: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable {
      /// SQLite's own integrity check.
      case structure
      /// A row that refers to a row that is not there.
      case orphan
      /// The rows are not the ones that were written.
      case digest
    }

    package var kind: Kind
    package var text: String
  }

  /// At most this many complaints of each kind.
  package static let complaintCount = 100

  /// SQLite's integrity check (which also finds values that break a column's rule).
  package func checkStructure() throws(StoreError) -> [Complaint] {
    try read { database in
      try String.fetchAll(database, sql: "PRAGMA integrity_check(\(Self.complaintCount))")
        .filter { $0 != "ok" }.map { Complaint(kind: .structure, text: $0) }
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
              kind: .orphan, text: "\(count) rows of \(table.name) refer to a missing \(parent)"))
        }
      }
      return complaints
    }
  }

  /// The running digest computed again from every row, against the one stored with the last commit.
  package func checkDigest() throws(StoreError) -> [Complaint] {
    let stored = try lastCommit()
    let computed = try read { database in
      var running = RunningDigest()
      for table in Schema.tables {
        let cursor = try Row.fetchCursor(database, sql: table.selectSQL)
        while let row = try cursor.next() {
          let values = row.cells
          if table.name == "meta", case .string(let key) = values[0].storage,
            key != "schema", StoreWriter.ownKeys.contains(key)
          {
            continue
          }
          running.add(values, of: table)
        }
      }
      return running.value
    }
    guard computed != stored.digest else { return [] }
    return [
      Complaint(
        kind: .digest,
        text: "the rows' digest is \(computed), commit \(stored.ordinal) stored \(stored.digest)")
    ]
  }
}
