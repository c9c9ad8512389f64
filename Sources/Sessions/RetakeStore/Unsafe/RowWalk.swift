import Foundation
import GRDB
import GRDBSQLite
import RetakeCore

/// Steps through the rows of a statement, and reads only the requested values of each.
///
/// A replay reads every row of its session once. Rows as arrays of values would need ten times
/// as long as reading them from SQLite's own memory.
final class RowWalk {
  // SAFETY: the statement belongs to GRDB, is held here for as long as its pointer is used, and is
  // used only within one read, by one thread.
  private let statement: Statement
  private let pointer: OpaquePointer
  private let database: Database
  /// The table's name and the row's values in the encoding of the row's digest.
  private var form: UnsafeMutableRawBufferPointer
  private var formBytes = 0

  init(
    _ sql: String, _ arguments: StatementArguments = [], in database: Database,
    keepsStatement: Bool = false
  ) throws {
    statement =
      keepsStatement
      ? try database.cachedStatement(sql: sql) : try database.makeStatement(sql: sql)
    statement.setUncheckedArguments(arguments)
    pointer = statement.sqliteStatement
    self.database = database
    form = UnsafeMutableRawBufferPointer.allocate(byteCount: 512, alignment: 8)
  }

  deinit {
    // A statement that is not reset keeps its read transaction open, and a
    // cached one is used again.
    sqlite3_reset(pointer)
    form.deallocate()
  }

  /// Moves to the next row; false after the last one.
  func next() throws -> Bool {
    switch sqlite3_step(pointer) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code:
      // Read before the reset, which may replace the message.
      let message = sqlite3_errmsg(database.sqliteConnection).map { String(cString: $0) }
      // A cached statement must be reset after an error.
      sqlite3_reset(pointer)
      // An extended code is reduced to its primary one, which `storeErrors` switches over.
      throw DatabaseError(resultCode: ResultCode(rawValue: code & 0xFF), message: message)
    }
  }

  /// The name of a column, or the expression that the statement selects.
  func name(_ column: Int) -> String? {
    // SAFETY: the library's string lives as long as the statement, and is copied.
    sqlite3_column_name(pointer, Int32(column)).map { String(cString: $0) }
  }

  var columnCount: Int { Int(sqlite3_column_count(pointer)) }

  func value(_ column: Int) -> DatabaseValue {
    let column = Int32(column)
    switch sqlite3_column_type(pointer, column) {
    case SQLITE_INTEGER: return sqlite3_column_int64(pointer, column).databaseValue
    case SQLITE_FLOAT: return sqlite3_column_double(pointer, column).databaseValue
    case SQLITE_TEXT:
      return String(decoding: bytes(column, isText: true), as: UTF8.self).databaseValue
    case SQLITE_BLOB: return Data(bytes(column, isText: false)).databaseValue
    default: return .null
    }
  }

  func isNull(_ column: Int) -> Bool {
    sqlite3_column_type(pointer, Int32(column)) == SQLITE_NULL
  }

  var values: [DatabaseValue] { (0..<columnCount).map { value($0) } }

  func int64(_ column: Int) -> Int64? {
    guard sqlite3_column_type(pointer, Int32(column)) == SQLITE_INTEGER else { return nil }
    return sqlite3_column_int64(pointer, Int32(column))
  }

  /// Size of a string or a blob; 0 for any other value.
  func byteCount(_ column: Int) -> Int {
    switch sqlite3_column_type(pointer, Int32(column)) {
    case SQLITE_TEXT, SQLITE_BLOB: Int(sqlite3_column_bytes(pointer, Int32(column)))
    default: 0
    }
  }

  /// Digest of the table's name and the first values of this row:
  /// `RunningDigest.digest(of:table:)`.
  func digest(table: Schema.Table, columns: Int) -> Digest128 {
    formBytes = 0
    var name = table.name
    name.withUTF8 { append(UInt64($0.count), UnsafeRawBufferPointer($0)) }
    for column in 0..<Int32(columns) {
      switch sqlite3_column_type(pointer, column) {
      case SQLITE_INTEGER:
        append(kind: 1)
        append(UInt64(bitPattern: sqlite3_column_int64(pointer, column)))
      case SQLITE_FLOAT:
        append(kind: 2)
        append(sqlite3_column_double(pointer, column).bitPattern)
      case SQLITE_TEXT:
        append(kind: 3)
        let text = bytes(column, isText: true)
        append(UInt64(text.count), text)
      case SQLITE_BLOB:
        append(kind: 4)
        let blob = bytes(column, isText: false)
        append(UInt64(blob.count), blob)
      default:
        append(kind: 0)
      }
    }
    return Digest128(of: UnsafeRawBufferPointer(rebasing: form[..<formBytes]))
  }

  private func bytes(_ column: Int32, isText: Bool) -> UnsafeRawBufferPointer {
    // SAFETY: the bytes live until the next step. SQLite requires that the size is requested after
    // the address, because the first call may convert a string.
    let start =
      isText
      ? UnsafeRawPointer(sqlite3_column_text(pointer, column))
      : sqlite3_column_blob(pointer, column)
    let count = Int(sqlite3_column_bytes(pointer, column))
    return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)
  }

  private func append(kind: UInt8) {
    reserve(1)
    form.storeBytes(of: kind, toByteOffset: formBytes, as: UInt8.self)
    formBytes += 1
  }

  private func append(_ number: UInt64) {
    reserve(8)
    form.storeBytes(of: number.littleEndian, toByteOffset: formBytes, as: UInt64.self)
    formBytes += 8
  }

  private func append(_ number: UInt64, _ bytes: UnsafeRawBufferPointer) {
    append(number)
    guard !bytes.isEmpty else { return }
    reserve(bytes.count)
    // SAFETY: the buffer has space for the bytes, and does not overlap with SQLite's memory.
    UnsafeMutableRawBufferPointer(rebasing: form[formBytes..<formBytes + bytes.count])
      .copyMemory(from: bytes)
    formBytes += bytes.count
  }

  private func reserve(_ count: Int) {
    guard formBytes + count > form.count else { return }
    // SAFETY: the old block is freed once, after its bytes are in the new one.
    let larger = UnsafeMutableRawBufferPointer.allocate(
      byteCount: 2 * (formBytes + count), alignment: 8)
    larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: form[..<formBytes]))
    form.deallocate()
    form = larger
  }
}
