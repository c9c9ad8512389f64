import Foundation
import GRDB
package import RetakeCore

/// Tables in memory that SQL can be asked about. It has no file, so a query changes no session and no golden.
package final class QueryDatabase {
  private let queue: DatabaseQueue

  package init() throws {
    var configuration = Configuration()
    configuration.label = "retake query"
    queue = try DatabaseQueue(configuration: configuration)
  }

  /// - Parameter columns: Not yet quoted.
  package func create(_ table: String, columns: [String]) throws {
    try queue.write { database in
      try database.execute(
        sql:
          "CREATE TABLE \(Self.quoted(table)) (\(columns.map(Self.quoted).joined(separator: ", ")))"
      )
    }
  }

  /// - Parameter rows: Strings, integers, numbers and null; each as long as the table's columns.
  package func insert(_ rows: [[JSONValue]], into table: String) throws {
    guard let first = rows.first else { return }
    try queue.write { database in
      let places = first.map { _ in "?" }.joined(separator: ", ")
      let statement = try database.makeStatement(
        sql: "INSERT INTO \(Self.quoted(table)) VALUES (\(places))")
      for row in rows { try statement.execute(arguments: StatementArguments(row.map(\.sqlValue))) }
    }
  }

  /// An answer of SQLite.
  package struct Answer: Hashable, Sendable {
    package var columns: [String]
    /// Blobs are null.
    package var rows: [[JSONValue]]
  }

  /// - Parameter rowsMax: Rows beyond it are not read.
  /// - Throws: `ErrorFacts` with the words of SQLite for a statement that is not one query.
  package func answer(_ sql: String, rowsMax: Int) throws -> Answer {
    do {
      return try queue.read { database in
        let statements = try database.allStatements(sql: sql)
        guard let statement = try statements.next() else {
          throw DatabaseError(message: "it is empty")
        }
        guard statement.isReadonly, !statement.columnNames.isEmpty else {
          throw DatabaseError(message: "it is not a query: write SELECT …")
        }
        guard try statements.next() == nil else {
          throw DatabaseError(message: "it has several statements: ask one at a time")
        }
        let cursor = try Row.fetchCursor(statement)
        var rows: [[JSONValue]] = []
        while rows.count < rowsMax, let row = try cursor.next() {
          rows.append(row.databaseValues.map(JSONValue.init(_:)))
        }
        return Answer(columns: statement.columnNames, rows: rows)
      }
    } catch let error as DatabaseError {
      throw ErrorFacts(
        "query.sql", "SQLite refuses the query", cause: error.message,
        advice: "See the tables and their columns: retake query --tables")
    }
  }

  private static func quoted(_ name: String) -> String {
    "\"" + name.replacing("\"", with: "\"\"") + "\""
  }
}

extension JSONValue {
  fileprivate var sqlValue: DatabaseValue {
    switch self {
    case .integer(let value): value.databaseValue
    case .number(let value): value.databaseValue
    case .string(let value): value.databaseValue
    case .bool(let value): value.databaseValue
    case .null: .null
    case .array, .object: canonicalText.databaseValue
    }
  }

  fileprivate init(_ value: DatabaseValue) {
    self =
      switch value.storage {
      case .int64(let number): .integer(number)
      case .double(let number): number.isFinite ? .number(number) : .string("\(number)")
      case .string(let text): .string(text)
      case .null, .blob: .null
      }
  }
}
