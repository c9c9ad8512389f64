import GRDB
import GRDBSQLite

/// Bounds the time of reading a database's schema.
///
/// SQLite parses the whole schema before the first statement, without a limit on the number of
/// tables: 200,000 of them take 20 seconds.
enum SchemaReadLimit {
  /// Steps of SQLite's virtual machine. A table of the schema takes about ten, and a session has
  /// thirteen.
  private static let stepCountMax: Int32 = 5_000

  /// From now on a statement that takes more steps fails with `SQLITE_INTERRUPT`.
  static func begin(_ database: Database) {
    // SAFETY: the connection is open, and the function uses no context.
    sqlite3_progress_handler(database.sqliteConnection, stepCountMax, { _ in 1 }, nil)
  }

  static func end(_ database: Database) {
    // SAFETY: the connection is open.
    sqlite3_progress_handler(database.sqliteConnection, 0, nil, nil)
  }
}
