import Foundation
import GRDB
import RetakeCore

/// A value that one column stores.
protocol ColumnValue {
  /// The column's type in SQL, with `NOT NULL` unless the value is optional.
  static var rule: String { get }
  var stored: DatabaseValue { get }
  /// Reads the value, within the bounds of most columns of this type.
  static func read(_ row: inout RowReader) throws -> Self
}

extension ColumnValue where Self: BinaryInteger {
  static var rule: String { "INTEGER NOT NULL" }
  var stored: DatabaseValue { Int64(self).databaseValue }
}

extension Int: ColumnValue {
  static func read(_ row: inout RowReader) throws -> Int { try row.count() }
}

extension Int64: ColumnValue {
  static func read(_ row: inout RowReader) throws -> Int64 { try row.int64() }
}

extension Int32: ColumnValue {
  static func read(_ row: inout RowReader) throws -> Int32 { try row.positive() }
}

extension Bool: ColumnValue {
  static var rule: String { "INTEGER NOT NULL" }
  var stored: DatabaseValue { (self ? 1 : 0).databaseValue }
  static func read(_ row: inout RowReader) throws -> Bool { try row.int(among: [0, 1]) == 1 }
}

extension String: ColumnValue {
  static var rule: String { "TEXT NOT NULL" }
  var stored: DatabaseValue { databaseValue }
  static func read(_ row: inout RowReader) throws -> String { try row.text() }
}

extension [UInt8]: ColumnValue {
  static var rule: String { "BLOB NOT NULL" }
  var stored: DatabaseValue { Data(self).databaseValue }
  static func read(_ row: inout RowReader) throws -> [UInt8] { try row.blob() }
}

extension Digest128: ColumnValue {
  static var rule: String { "BLOB NOT NULL" }
  var stored: DatabaseValue { bytes.stored }
  static func read(_ row: inout RowReader) throws -> Digest128 { try row.digest() }
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
  static var rule: String { String(Wrapped.rule.prefix { $0 != " " }) }
  var stored: DatabaseValue { self?.stored ?? .null }
  static func read(_ row: inout RowReader) throws -> Wrapped? {
    try row.ifAny { try Wrapped.read(&$0) }
  }
}
