import Foundation
import GRDB
import RetakeCore

/// A record as a row: its table, and its values in the order of the table's columns.
protocol StoredRow: Sendable {
  static var table: Schema.Table { get }
  var values: [DatabaseValue] { get }
  init(_ row: inout RowReader) throws(RowDamage)
}

/// A value of a kind that the column cannot hold: only a damaged file has one.
struct RowDamage: Error {
  var table: String
  var column: String
}

/// Takes a row's values one after another, and never trusts them.
struct RowReader {
  let values: [DatabaseValue]
  let table: Schema.Table
  private var next = 0

  init(_ row: Row, of table: Schema.Table) {
    self.values = row.cells
    self.table = table
  }

  /// Of all texts and blobs.
  var byteCount: Int {
    values.reduce(0) { total, value in
      switch value.storage {
      case .string(let text): total + text.utf8.count
      case .blob(let data): total + data.count
      default: total
      }
    }
  }

  private mutating func take() throws(RowDamage) -> DatabaseValue {
    defer { next += 1 }
    guard next < values.count else { throw RowDamage(table: table.name, column: "\(next)") }
    return values[next]
  }

  private var damage: RowDamage {
    RowDamage(table: table.name, column: table.columns[next - 1].name)
  }

  mutating func int64() throws(RowDamage) -> Int64 {
    guard case .int64(let value) = try take().storage else { throw damage }
    return value
  }

  mutating func int64IfAny() throws(RowDamage) -> Int64? {
    switch try take().storage {
    case .int64(let value): return value
    case .null: return nil
    default: throw damage
    }
  }

  mutating func int() throws(RowDamage) -> Int { Int(try int64()) }
  mutating func intIfAny() throws(RowDamage) -> Int? { try int64IfAny().map { Int($0) } }

  /// Of anything counted, so that sums of a few fit.
  static let countMax: Int64 = 1 << 56

  /// A number that counts something: never negative.
  mutating func count() throws(RowDamage) -> Int {
    guard let value = try countIfAny() else { throw damage }
    return value
  }

  mutating func countIfAny() throws(RowDamage) -> Int? {
    guard let value = try int64IfAny() else { return nil }
    guard value >= 0, value <= Self.countMax else { throw damage }
    return Int(value)
  }

  /// A positive number that fits 32 bits.
  mutating func positive() throws(RowDamage) -> Int32 {
    guard let value = Int32(exactly: try int64()), value > 0 else { throw damage }
    return value
  }

  /// Of a text or a blob; nothing that a session holds comes near.
  static let valueBytesMax = 64 << 20

  mutating func text() throws(RowDamage) -> String {
    guard let value = try textIfAny() else { throw damage }
    return value
  }

  mutating func textIfAny() throws(RowDamage) -> String? {
    switch try take().storage {
    case .string(let value) where value.utf8.count <= Self.valueBytesMax: return value
    case .null: return nil
    default: throw damage
    }
  }

  mutating func blob() throws(RowDamage) -> [UInt8] {
    guard let value = try blobIfAny() else { throw damage }
    return value
  }

  mutating func blobIfAny() throws(RowDamage) -> [UInt8]? {
    switch try take().storage {
    case .blob(let value) where value.count <= Self.valueBytesMax: return [UInt8](value)
    case .null: return nil
    default: throw damage
    }
  }

  mutating func digest() throws(RowDamage) -> Digest128 {
    guard let digest = Digest128(bytes: try blob()) else { throw damage }
    return digest
  }

  mutating func digestIfAny() throws(RowDamage) -> Digest128? {
    guard let bytes = try blobIfAny() else { return nil }
    guard let digest = Digest128(bytes: bytes) else { throw damage }
    return digest
  }
}

extension Row {
  /// All values, detached from the statement.
  var cells: [DatabaseValue] { Array(databaseValues) }
}

/// Gathers a row's values in the order of the columns.
struct RowBuilder {
  private(set) var values: [DatabaseValue] = []

  mutating func add(_ value: Int?) { values.append(value?.databaseValue ?? .null) }
  mutating func add(_ value: Int64?) { values.append(value?.databaseValue ?? .null) }
  mutating func add(_ value: String?) { values.append(value?.databaseValue ?? .null) }
  mutating func add(_ value: Bool) { values.append((value ? 1 : 0).databaseValue) }
  mutating func add(_ value: [UInt8]?) {
    values.append(value.map { Data($0).databaseValue } ?? .null)
  }
  mutating func add(_ value: Digest128?) { add(value?.bytes) }

  static func build(_ body: (inout RowBuilder) -> Void) -> [DatabaseValue] {
    var builder = RowBuilder()
    body(&builder)
    return builder.values
  }
}
