import GRDB

/// Values that are larger than any of a session's.
extension StoreReader {
  /// Names the first value that SQLite refuses for its size; nil where there is none.
  ///
  /// Looks at the whole database, so only once a statement was refused.
  static func giant(in database: Database, version: Int64) -> RowDamage? {
    for table in Schema.tables {
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
      while try walk.next() { place += 1 }
      return nil
    } catch let error as DatabaseError where error.resultCode == .SQLITE_TOOBIG {
      // A key that is too large itself has no name.
      let key = try? Row.fetchOne(database, sql: "SELECT \(table.keyList) \(order) \(place)")
      return RowDamage(
        table: table.name, column: column.name, key: key.map { table.key(of: $0.cells) },
        value: "larger than \(RowReader.valueBytesMax) bytes")
    } catch {
      return nil
    }
  }
}

extension Schema.Table.Column {
  /// A text or a blob.
  fileprivate var holdsBytes: Bool { rule.hasPrefix("TEXT") || rule.hasPrefix("BLOB") }
}
