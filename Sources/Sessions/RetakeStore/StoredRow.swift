import GRDB

/// A record that is a row of one table.
package protocol StoredRow: Hashable, Sendable {
  static var table: Schema.Table { get }
  /// A blank record, which `visit` fills.
  init()
  /// Visits the columns in the table's order.
  mutating func visit(_ row: inout RowColumns) throws
}

extension StoredRow {
  init(_ row: RowReader) throws {
    self.init()
    var columns = RowColumns.reading(row)
    try visit(&columns)
  }

  /// In the order of the table's columns.
  var values: [DatabaseValue] { visited(.storing).values }

  fileprivate func visited(_ columns: RowColumns) -> RowColumns {
    var (record, columns) = (self, columns)
    // Only reading a row throws.
    try? record.visit(&columns)
    return columns
  }
}

extension Schema.Table {
  init(
    _ name: String, keyCount: Int, of record: some StoredRow, references: [String] = [],
    firstVersion: Int64 = 1
  ) {
    self.init(
      name: name, keyCount: keyCount, columns: record.visited(.describing).columns,
      references: references, firstVersion: firstVersion)
  }

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
