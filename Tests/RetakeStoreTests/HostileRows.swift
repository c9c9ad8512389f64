import Foundation
import RetakeCore
import RetakeTestSupport

@testable import RetakeStore

/// A value of a database, as SQL writes it and as it enters a row's checksum.
enum CraftedValue: Hashable, Sendable, CustomStringConvertible {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob(count: Int)

  /// Edge values for a column of any kind.
  static let edges: [CraftedValue] = [
    .integer(.max), .integer((1 << 31) - 1), .integer(.min), .integer(-1), .integer(0), .integer(1),
    .integer(1 << 31), .integer(1 << 32), .integer(1 << 53),
    .integer(1 << 61), .integer(1 << 62), .null, .text("\u{1B}[31mred"), .text(""), .real(1e300),
    .blob(count: 5), .blob(count: 65 << 20), .text("two words"),
  ]

  var description: String {
    switch self {
    case .null: "NULL"
    case .integer(.min): "(-9223372036854775807 - 1)"
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .text(let text): "'\(text.replacing("'", with: "''"))'"
    case .blob(let count): "zeroblob(\(count))"
    }
  }

  /// - Parameter quoted: As SQLite's `quote` writes it.
  init?(quoted: Substring) {
    if quoted == "NULL" {
      self = .null
    } else if quoted.hasPrefix("'") {
      self = .text(String(quoted.dropFirst().dropLast()).replacing("''", with: "'"))
    } else if let number = Int64(quoted) {
      self = .integer(number)
    } else {
      return nil
    }
  }

  /// The form from which the row's digest is computed.
  func append(to bytes: inout [UInt8]) {
    func number(_ value: UInt64) {
      for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * shift))) }
    }
    switch self {
    case .null: bytes.append(0)
    case .integer(let value):
      bytes.append(1)
      number(UInt64(bitPattern: value))
    case .real(let value):
      bytes.append(2)
      number(value.bitPattern)
    case .text(let text):
      bytes.append(3)
      number(UInt64(text.utf8.count))
      bytes += text.utf8
    case .blob(let count):
      bytes.append(4)
      number(UInt64(count))
      bytes += [UInt8](repeating: 0, count: count)
    }
  }
}

/// Writes one value into one row of a closed session, ignoring the constraints of the schema, and
/// updates the row's checksum and the running digest: only the value is then wrong.
struct CraftedRow {
  var table: Schema.Table
  var column: Int
  var value: CraftedValue

  var name: String { "\(table.name).\(table.columns[column].name)" }

  /// - Returns: `false` if SQLite rejects the value even without the constraints: NULL in a key, or
  ///   another row's key.
  func write(to path: String) throws -> Bool {
    let names = table.columns.map { "\"\($0.name)\"" }
    let place = "ORDER BY \(table.keyList) LIMIT 1"
    // Blobs are used as they are: their digests are not computed again here.
    let query = names.map { "CASE typeof(\($0)) WHEN 'blob' THEN hex(\($0)) ELSE quote(\($0)) END" }
    let kinds = names.map { "typeof(\($0))" }
    let stored = "(SELECT value FROM meta WHERE key = 'digest')"
    let all = try ask(
      path,
      "SELECT \((query + kinds + [stored]).joined(separator: ", ")) FROM \(table.name) \(place)")
    guard all.count == 2 * names.count + 1 else {
      throw SQLFailed(message: "no row in \(table.name)")
    }
    let (row, types) = (Array(all[..<names.count]), Array(all[names.count..<2 * names.count]))
    let before = digest(row, types, changed: nil)
    let after = digest(row, types, changed: (column, value))
    var running = RunningDigest(Digest128(hex: all[2 * names.count]) ?? .zero)
    let isOwn =
      table.name == "meta" && StoreWriter.ownKeys.contains(String(row[0].dropFirst().dropLast()))
    if !isOwn || row[0] == "'schema'" {
      running.subtract(before)
      running.add(after)
    }
    let plain = names + ["\"row_check\"", "PRIMARY KEY (\(table.keyList))"]
    let loose = "CREATE TABLE \(table.name) (\(plain.joined(separator: ", "))) WITHOUT ROWID"
    let rule = table.createSQL(version: Schema.version).replacing("'", with: "''")
    let key = zip(names, row).prefix(table.keyCount).map { "\($0) = \($1)" }
    let script = """
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = '\(loose.replacing("'", with: "''"))' WHERE name = '\(table.name)';
      PRAGMA writable_schema = RESET;
      UPDATE \(table.name) SET \(names[column]) = \(value), row_check = \(RunningDigest.check(of: after))
        WHERE \(key.joined(separator: " AND "));
      UPDATE meta SET value = '\(running.value)', row_check = \(Self.check(ofDigest: running.value))
        WHERE key = 'digest';
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = '\(rule)' WHERE name = '\(table.name)';
      """
    let result = try runCommand(
      "sqlite3", arguments: ["-bail", path], input: Data(".dbconfig defensive off\n\(script)".utf8))
    if result.stderr.contains("constraint failed") { return false }
    guard result.status == 0 else { throw SQLFailed(message: result.stderr) }
    return true
  }

  private func digest(
    _ row: [Substring], _ types: [Substring], changed: (Int, CraftedValue)?
  ) -> Digest128 {
    var bytes: [UInt8] = []
    CraftedValue.text(table.name).append(to: &bytes)
    // The table's name has no storage class before it.
    bytes.removeFirst()
    for (place, (text, type)) in zip(row, types).enumerated() {
      if let changed, changed.0 == place {
        changed.1.append(to: &bytes)
      } else if type == "blob" {
        let blob = Self.bytes(hex: text)
        CraftedValue.blob(count: 0).append(to: &bytes)
        bytes.removeLast(8)
        for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: blob.count >> (8 * shift))) }
        bytes += blob
      } else {
        CraftedValue(quoted: text)?.append(to: &bytes)
      }
    }
    return Digest128(of: bytes)
  }

  /// The checksum of the row of meta with the running digest.
  private static func check(ofDigest digest: Digest128) -> Int64 {
    var bytes: [UInt8] = []
    for text in ["meta", "digest", "\(digest)"] { CraftedValue.text(text).append(to: &bytes) }
    bytes.removeFirst()
    return RunningDigest.check(of: Digest128(of: bytes))
  }

  private static func bytes(hex: Substring) -> [UInt8] {
    var (bytes, rest) = ([UInt8](), hex)
    while let byte = UInt8(rest.prefix(2), radix: 16) {
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    return bytes
  }

  private func ask(_ path: String, _ sql: String) throws -> [Substring] {
    let result = try runSQLite(arguments: [path, sql], separator: "\u{1F}")
    guard result.status == 0 else { throw SQLFailed(message: result.stderr) }
    var text = result.stdout[...]
    if text.last == "\n" { text = text.dropLast() }
    return text.split(separator: "\u{1F}", omittingEmptySubsequences: false)
  }
}
