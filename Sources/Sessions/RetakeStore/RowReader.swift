import Foundation
import GRDB
import RetakeCore

/// Reads a row's values one after another, and validates each.
struct RowReader {
  /// Positioned on the row.
  private let walk: RowWalk
  private let columnCount: Int
  let table: Schema.Table
  private var next = 0

  /// Of an older schema, the frames that are not their packet's first, with their rank.
  private let ranks: [FrameID: Int]

  /// - Parameter walk: Must not move while the row is read.
  init(_ walk: RowWalk, of table: Schema.Table, ranks: [FrameID: Int] = [:]) {
    (self.walk, self.table, self.ranks) = (walk, table, ranks)
    columnCount = walk.columnCount
  }

  /// Total size of all strings and blobs.
  var byteCount: Int { (0..<columnCount).reduce(0) { $0 + walk.byteCount($1) } }

  private mutating func take() throws -> DatabaseValue {
    defer { next += 1 }
    guard next < columnCount else { throw RowDamage(table: table.name, column: "\(next)") }
    return walk.value(next)
  }

  /// The damage of the value that was read last.
  var damage: RowDamage {
    let place = next - 1
    // A statement may select some columns, in any order, or the least of one.
    let selected = (0..<columnCount).contains(place) ? walk.name(place) : nil
    let column =
      table.columns.first { selected == $0.name || selected?.contains("(\($0.name))") == true }?
      .name
      ?? (table.columns.indices.contains(place) ? table.columns[place].name : "\(place)")
    // Only a row that was selected with all columns begins with its key.
    let isWhole = columnCount >= table.columns.count
    return RowDamage(
      table: table.name, column: column, key: isWhole ? table.key(of: walk.values) : nil,
      value: (0..<columnCount).contains(place) ? walk.value(place).shortText : nil)
  }

  /// Reads with a function, in place.
  mutating func reading<Value>(_ read: (inout RowReader) throws -> Value) rethrows -> Value {
    try read(&self)
  }

  /// nil for NULL.
  mutating func ifAny<Value>(_ read: (inout RowReader) throws -> Value) throws -> Value? {
    guard next < columnCount, walk.isNull(next) else { return try read(&self) }
    next += 1
    return nil
  }

  mutating func int64() throws -> Int64 {
    guard case .int64(let value) = try take().storage else { throw damage }
    return value
  }

  /// A number within bounds, so that later computations do not overflow.
  mutating func int(in bounds: ClosedRange<Int64>) throws -> Int {
    let value = try int64()
    guard bounds.contains(value) else { throw damage }
    return Int(value)
  }

  /// One of a few numbers.
  mutating func int(among known: [Int64]) throws -> Int {
    let value = try int64()
    guard known.contains(value) else { throw damage }
    return Int(value)
  }

  /// Maximum distance of a time from 0: 73 years, so that differences and sums with a delay fit.
  static let nanosecondsMax: Int64 = 1 << 61

  /// A point in time, or a duration.
  mutating func nanoseconds() throws -> Int64 {
    Int64(try int(in: -Self.nanosecondsMax...Self.nanosecondsMax))
  }

  /// Maximum of any count, so that the sum of a few fits.
  static let countMax: Int64 = 1 << 56

  /// A count, which is never negative.
  mutating func count() throws -> Int { try int(in: 0...Self.countMax) }

  /// The number of a frame among those that its packet gives.
  mutating func shown(of frame: FrameID) throws -> Int {
    let stored = try count()
    return ranks[frame] ?? stored
  }

  /// A positive number that fits 32 bits.
  mutating func positive() throws -> Int32 {
    guard let value = Int32(exactly: try int64()), value > 0 else { throw damage }
    return value
  }

  /// Maximum size of a string or a blob, far above anything that a session contains.
  static let valueBytesMax = 64 << 20

  mutating func text() throws -> String {
    guard case .string(let value) = try take().storage, value.utf8.count <= Self.valueBytesMax
    else { throw damage }
    return value
  }

  /// Maximum length of a code, far above the length of any existing code.
  private static let codeBytesMax = 256

  /// A stable code. Decisions and goldens hold it as one word, so it has visible ASCII only.
  mutating func code() throws -> String {
    let code = try text()
    let isWord = code.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    guard isWord, !code.isEmpty, code.utf8.count <= Self.codeBytesMax else { throw damage }
    return code
  }

  mutating func blob() throws -> [UInt8] {
    guard case .blob(let value) = try take().storage, value.count <= Self.valueBytesMax
    else { throw damage }
    return [UInt8](value)
  }

  mutating func digest() throws -> Digest128 {
    guard let digest = Digest128(bytes: try blob()) else { throw damage }
    return digest
  }
}
