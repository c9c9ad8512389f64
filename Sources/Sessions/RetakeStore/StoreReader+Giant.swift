import GRDB
import RetakeCore

/// Finds values that are larger than any value of a session.
extension StoreReader {
  /// The first value that SQLite rejects because of its size; nil without such a value.
  ///
  /// It reads all rows of the database, so call it only after a statement was rejected.
  static func giant(in database: Database, version: Int64) -> RowDamage? {
    for table in Schema.tables(version: version) {
      let known = table.columns.prefix(table.columnCount(version: version))
      for column in known where column.holdsBytes {
        if let found = giant(in: database, table, column) { return found }
      }
    }
    return nil
  }

  private static func giant(
    in database: Database, _ table: Schema.Table, _ column: Schema.Table.Column
  ) -> RowDamage? {
    let order = "FROM \(table.name) ORDER BY \(table.keyList) LIMIT -1 OFFSET "
    var place = 0
    do {
      let walk = try RowWalk("SELECT \"\(column.name)\" \(order) 0", in: database)
      // SQLite stops at the row that it cannot read. The number of rows before it is its place, and
      // its key is then read without the value.
      while try walk.next() { place += 1 }
      return nil
    } catch let error as DatabaseError where error.resultCode == .SQLITE_TOOBIG {
      // If the key itself is too large, it cannot be named.
      let key = try? Row.fetchOne(database, sql: "SELECT \(table.keyList) \(order) \(place)")
      return RowDamage(
        table: table.name, column: column.name, key: key.map { table.key(of: $0.cells) },
        value: "larger than \(ByteText.limit(RowReader.valueBytesMax))")
    } catch {
      // Other damage is reported by the statement that led here.
      return nil
    }
  }
}

extension Schema.Table.Column {
  /// Whether the column contains strings or blobs.
  fileprivate var holdsBytes: Bool { rule.hasPrefix("TEXT") || rule.hasPrefix("BLOB") }
}
