import GRDB

/// Visits the columns of a record in their order: to describe its table, to store it, or to read it.
///
/// `StoredRow.visit` names each column once; its name, its rule in SQL and its bounds cannot
/// disagree between these three uses.
package struct RowColumns {
  private enum Use { case describing, storing, reading }

  private let use: Use
  private var reader: RowReader?
  private(set) var columns: [Schema.Table.Column] = []
  private(set) var values: [DatabaseValue] = []

  private init(_ use: Use, _ reader: RowReader? = nil) { (self.use, self.reader) = (use, reader) }

  static var describing: RowColumns { RowColumns(.describing) }
  static var storing: RowColumns { RowColumns(.storing) }
  static func reading(_ row: RowReader) -> RowColumns { RowColumns(.reading, row) }

  /// Visits one column.
  ///
  /// - Parameters:
  ///   - check: The condition of the column's `CHECK`; `$` is its quoted name.
  ///   - version: The first schema version with this column.
  ///   - stored: The value in the form that is stored.
  ///   - read: Reads and validates the value. It does so even where the schema has a `CHECK`: rows
  ///     of a foreign file need not fulfil it.
  mutating func column<Value, Stored: ColumnValue>(
    _ name: String, _ value: inout Value, _ check: String? = nil, since version: Int64 = 1,
    as stored: (Value) -> Stored, _ read: (inout RowReader) throws -> Value
  ) throws {
    switch use {
    case .describing:
      let condition = check.map { " CHECK (" + $0.replacing("$", with: "\"\(name)\"") + ")" }
      columns.append(.init(name, Stored.rule + (condition ?? ""), since: version))
    case .storing: values.append(stored(value).stored)
    case .reading: if let found = try reader?.reading(read) { value = found }
    }
  }

  mutating func column<Value: ColumnValue>(
    _ name: String, _ value: inout Value, _ check: String? = nil, since version: Int64 = 1,
    _ read: (inout RowReader) throws -> Value = { try Value.read(&$0) }
  ) throws {
    try column(name, &value, check, since: version, as: { $0 }, read)
  }

  /// A point in time, or a duration.
  mutating func time(_ name: String, _ value: inout Int64, _ check: String? = nil) throws {
    try column(name, &value, check) { try $0.nanoseconds() }
  }
}
