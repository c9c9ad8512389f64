import GRDB
import RetakeCore

/// The checks that the check runs on a database.
extension StoreReader {
  /// One problem, with a message of SQLite or of Retake.
  package struct Complaint: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable {
      /// Found by SQLite's integrity check, or a table that cannot be read to its end.
      case structure
      /// A row that refers to a missing row.
      case orphan
      /// A row differs from the row that was written.
      case row
      /// A row's checksum is damaged; the row itself is intact.
      case check
      /// All rows together differ from the rows that were written.
      case digest
    }

    package var kind: Kind
    package var text: String
    /// The damaged row's table.
    package var table: String?
    /// The damaged row's key, if it consists of numbers: track and index, or track and sequence.
    package var key: [Int] = []
    /// A value is larger than any value of a session.
    package var isAboutSize = false
  }

  /// Maximum number of complaints of each kind.
  package static let complaintCount = 100

  /// The findings of `checkStructure`, `checkRows` and `checkReferences`, in this order.
  ///
  /// If a value is larger than any value of a session, only `checkRows` runs. That damage is
  /// sufficient, and SQLite would read the entire value again for each row that refers to its row.
  package func checkContent() throws -> [Complaint] {
    let rows = try checkRows()
    guard !rows.contains(where: \.isAboutSize) else { return rows }
    return try checkStructure() + rows + checkReferences()
  }

  /// SQLite's integrity check, which also finds values that violate a column's constraint.
  func checkStructure() throws -> [Complaint] {
    do {
      return try read { database in
        try String.fetchAll(database, sql: "PRAGMA integrity_check(\(Self.complaintCount))")
          .filter { $0 != "ok" }.map { Complaint(kind: .structure, text: $0) }
      }
    } catch StoreError.corrupt(_, let cause) {
      // Damage may also end the check itself; for the check that is a finding like the others.
      return [Complaint(kind: .structure, text: cause)]
    }
  }

  /// Finds rows whose segment, packet or run is missing.
  func checkReferences() throws -> [Complaint] {
    try read { database in
      var complaints: [Complaint] = []
      for table in Schema.tables(version: Int64(schemaVersion)) {
        // Counted by table: a missing segment would otherwise lead to a complaint for each of its
        // packets.
        let rows = try Row.fetchAll(
          database, sql: "SELECT \"parent\", count(*) FROM pragma_foreign_key_check(?) GROUP BY 1",
          arguments: [table.name])
        for row in rows {
          let parent = String.fromDatabaseValue(row.cells[0]) ?? "?"
          let count = Int.fromDatabaseValue(row.cells[1]) ?? 0
          complaints.append(
            Complaint(
              kind: .orphan,
              text: "\(counted(count, "row")) of \(table.name) "
                + "\(count == 1 ? "refers" : "refer") to a missing "
                + parent,
              table: table.name))
        }
      }
      return complaints
    }
  }

  /// Checks every row against its checksum, and the recomputed digest of all rows against the
  /// digest that the last commit stored. Rows of schema 1 have no checksum, so only the digest is
  /// checked.
  package func checkRows() throws -> [Complaint] {
    try read { database in
      var scan = RowScan(version: Int64(schemaVersion), rowCountMax: rowCountMax)
      for table in Schema.tables(version: Int64(schemaVersion)) { scan.run(table, in: database) }
      // A commit that cannot be read is one of the complaints, and must not hide the others.
      let stored = try? Self.lastCommit(in: database)
      return scan.complaints(stored: stored)
    }
  }
}
