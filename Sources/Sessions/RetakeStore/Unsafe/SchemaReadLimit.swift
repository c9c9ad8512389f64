import GRDB
import GRDBSQLite

/// Bounds the time of reading a database's schema.
///
/// SQLite parses the complete schema before the first statement, without a limit on the number of
/// tables: parsing 200,000 tables needs 20 seconds.
enum SchemaReadLimit {
  /// Steps of SQLite's virtual machine. A table of the schema needs about ten, and a session has
  /// at most fifteen.
  private static let stepCountMax: Int32 = 5_000

  /// From now on a statement that needs more steps fails with `SQLITE_INTERRUPT`.
  static func begin(_ database: Database) {
    // SAFETY: the connection is open, and the function uses no context.
    sqlite3_progress_handler(database.sqliteConnection, stepCountMax, { _ in 1 }, nil)
  }

  static func end(_ database: Database) {
    // SAFETY: the connection is open.
    sqlite3_progress_handler(database.sqliteConnection, 0, nil, nil)
  }
}
