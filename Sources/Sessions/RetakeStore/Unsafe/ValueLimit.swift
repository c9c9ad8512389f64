package import GRDB
import GRDBSQLite

/// Bounds the size of values that SQLite reads; a larger one is an error before its bytes are read.
package enum ValueLimit {
  package static func set(_ database: Database, bytesMax: Int) {
    // SAFETY: the connection is open.
    sqlite3_limit(database.sqliteConnection, SQLITE_LIMIT_LENGTH, Int32(clamping: bytesMax))
  }
}
