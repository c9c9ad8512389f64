import Foundation
import GRDB
import RetakeCore

/// A record as a row: its table, and its values in the order of the table's columns.
protocol StoredRow: Sendable {
  static var table: Schema.Table { get }
  var values: [DatabaseValue] { get }
  init(_ row: inout RowReader) throws
}

extension Schema.Table {
  /// `track 0, index 3`.
  func key(of values: [DatabaseValue]) -> String {
    zip(columns, values).prefix(keyCount).map { "\($0.name) \($1.shortText)" }
      .joined(separator: ", ")
  }
}

extension DatabaseValue {
  /// For messages, at most one line.
  var shortText: String {
    switch storage {
    case .null: "NULL"
    case .int64(let number): String(number)
    case .double(let number): "\(number)"
    case .string(let text):
      text.utf8.count <= 80 ? "'\(text)'" : "a string of \(text.utf8.count) bytes"
    case .blob(let data): "a blob of \(data.count) bytes"
    }
  }
}

extension Row {
  /// All values, independent of the statement.
  var cells: [DatabaseValue] { Array(databaseValues) }
}
