import Foundation
import GRDB
import RetakeCore

/// The digest of all rows of a database: the sum, modulo 2^128, of each row's XXH3-128.
///
/// A sum does not depend on the order. A reader can therefore recompute it in table order, a writer
/// that opens the file again continues from the stored value, and a changed row costs two hashes.
struct RunningDigest: Hashable, Sendable {
  private(set) var value: Digest128

  init(_ value: Digest128 = .zero) {
    self.value = value
  }

  mutating func add(_ row: Digest128) {
    let (low, carry) = value.low.addingReportingOverflow(row.low)
    value = Digest128(high: value.high &+ row.high &+ (carry ? 1 : 0), low: low)
  }

  mutating func subtract(_ row: Digest128) {
    let (low, borrow) = value.low.subtractingReportingOverflow(row.low)
    value = Digest128(high: value.high &- row.high &- (borrow ? 1 : 0), low: low)
  }

  /// Digest of the table's name and each value with its storage class; different rows never have
  /// the same encoding.
  static func digest(of values: [DatabaseValue], table: Schema.Table) -> Digest128 {
    // `RowWalk.digest` returns the same bytes from SQLite's own memory, and must change together
    // with this. docs/formats/session.md, Checksums, is the definition.
    var bytes: [UInt8] = []
    bytes.reserveCapacity(192)
    append(table.name, to: &bytes)
    for value in values {
      switch value.storage {
      case .null:
        bytes.append(0)
      case .int64(let number):
        bytes.append(1)
        append(UInt64(bitPattern: number), to: &bytes)
      case .double(let number):
        bytes.append(2)
        append(number.bitPattern, to: &bytes)
      case .string(let text):
        bytes.append(3)
        append(text, to: &bytes)
      case .blob(let data):
        bytes.append(4)
        append(UInt64(data.count), to: &bytes)
        bytes.append(contentsOf: data)
      }
    }
    return Digest128(of: bytes)
  }

  /// The value of the row's `row_check` column.
  static func check(of row: Digest128) -> Int64 { Int64(bitPattern: row.low) }

  private static func append(_ text: String, to bytes: inout [UInt8]) {
    append(UInt64(text.utf8.count), to: &bytes)
    bytes.append(contentsOf: text.utf8)
  }

  private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
    // Little-endian on every machine, because sessions are copied between them.
    for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * shift))) }
  }
}
