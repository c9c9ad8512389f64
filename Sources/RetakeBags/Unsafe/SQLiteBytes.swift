import GRDB
import GRDBSQLite

extension Row {
  // SAFETY: GRDB lends the bytes until the cursor's next step; they are copied before.

  /// A copy of a BLOB's bytes.
  func blob(at index: Int) -> [UInt8] {
    (try? withUnsafeData(atIndex: index) { data in data.map { [UInt8]($0) } }) ?? []
  }
}

/// Bounds the size of values that SQLite reads; a larger one is an error before its bytes are read.
enum SQLiteLimit {
  static func set(_ database: Database, bytesMax: Int) {
    // SAFETY: the connection is open.
    sqlite3_limit(database.sqliteConnection, SQLITE_LIMIT_LENGTH, Int32(clamping: bytesMax))
  }
}
