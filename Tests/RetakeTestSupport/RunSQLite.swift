import Foundation
import GRDBSQLite

/// Runs SQL with SQLite itself, without a store: what the `sqlite3` command would print and return.
///
/// The limits of SQLite's memory that a store sets for the process apply here, too, and commands that
/// begin with a dot are unknown: hostile databases are made with the command.
///
/// - Parameters:
///   - arguments: The database's path, then the SQL.
///   - separator: Between two columns.
package func runSQLite(
  arguments: [String], separator: String = "|"
) throws -> CommandResult {
  precondition(arguments.count == 2)
  var database: OpaquePointer?
  defer { sqlite3_close(database) }
  var rows: [[String]] = []
  var failure = sqlite3_open(arguments[0], &database)
  if failure == SQLITE_OK {
    failure = withUnsafeMutablePointer(to: &rows) { rows in
      sqlite3_exec(
        database, arguments[1],
        { rows, count, values, _ in
          let row = (0..<Int(count)).map { values?[$0].map { String(cString: $0) } ?? "" }
          rows?.assumingMemoryBound(to: [[String]].self).pointee.append(row)
          return 0
        }, rows, nil)
    }
  }
  let message = failure == SQLITE_OK ? "" : String(cString: sqlite3_errmsg(database)) + "\n"
  return CommandResult(
    status: failure == SQLITE_OK ? 0 : 1, timedOut: false,
    stdoutBytes: Data(rows.map { $0.joined(separator: separator) + "\n" }.joined().utf8),
    stderrBytes: Data(message.utf8))
}
