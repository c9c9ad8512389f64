import Foundation
import GRDB
import RetakeCore

/// A session's database, opened for reading. Never writes in the session's folder.
///
/// A closed database is opened immutable; one with a journal beside it, because it is being
/// recorded or was never closed, is read from a private copy. Safe from any thread.
package final class StoreReader: Sendable {
  /// Before the connection: fields end in their order.
  private let room: ThreadRoom
  package let path: String
  /// False while a recorder holds the session, and after one that died.
  package let isClosed: Bool
  /// A log or rollback journal lay beside the database: it was read from a private copy.
  package var hasJournal: Bool { copy != nil }
  package let schemaVersion: Int
  let queue: DatabaseQueue
  /// Of an older schema, once it was asked for.
  let derivedShown = DerivedShown()
  let wholeness = Wholeness()
  /// Held for its folder's sake.
  private let copy: PrivateCopy?

  package init(opening path: String) throws(StoreError) {
    room = try ThreadRoom.reserve(for: path)
    self.path = path
    try DatabaseFile.check(path)
    let before = try DatabaseFile.checkedFacts(path)
    let copy = DatabaseFile.hasJournal(path) ? try DatabaseFile.privateCopy(of: path) : nil
    self.copy = copy
    let queue = try storeErrors(at: path, writing: false) {
      if let copy {
        let recovered = try DatabaseQueue(
          path: copy.path, configuration: Self.configuration(readonly: false))
        return recovered
      }
      return try DatabaseQueue(
        path: Self.immutableURI(path), configuration: Self.configuration(readonly: true))
    }
    self.queue = queue
    let after = try DatabaseFile.checkedFacts(path)
    guard copy != nil || after.isSameFile(as: before) else {
      throw .unsafeFile(path: path, cause: "it was replaced while it was opened")
    }
    let (version, isClosed) = try storeErrors(at: path, writing: false) {
      try queue.read { database in
        let version = try Self.checkSchema(database, path: path)
        return (version, try Self.fact("closed", in: database) == "1")
      }
    }
    schemaVersion = Int(version)
    self.isClosed = isClosed
    rowCountMax = try DatabaseFile.rowCountMax(copy?.path ?? path)
  }

  /// A table of a damaged or hostile file may lead round in circles.
  let rowCountMax: Int

  /// Copies a database and its log as they were at one instant, while a recorder may write.
  package static func copy(_ path: String, to target: String) throws(StoreError) {
    try DatabaseFile.check(path)
    let copy = try DatabaseFile.privateCopy(of: path)
    try storeErrors(at: target, writing: true) {
      for suffix in ["", "-wal", "-journal"]
      where FileManager.default.fileExists(atPath: copy.path + suffix) {
        try FileManager.default.copyItem(atPath: copy.path + suffix, toPath: target + suffix)
      }
    }
  }

  private static func configuration(readonly: Bool) -> Configuration {
    var configuration = Configuration()
    configuration.label = "session reader"
    configuration.readonly = readonly
    configuration.foreignKeysEnabled = false
    configuration.prepareDatabase { database in
      try database.execute(sql: "PRAGMA trusted_schema = OFF")
      try database.execute(sql: "PRAGMA cell_size_check = ON")
      try database.execute(sql: "PRAGMA mmap_size = 0")
      // Of the whole process; a page cache is a few MiB.
      _ = try Int64.fetchOne(database, sql: "PRAGMA hard_heap_limit = \(heapBytesMax)")
      ValueLimit.set(database, bytesMax: RowReader.valueBytesMax)
      SchemaReadLimit.begin(database)
    }
    return configuration
  }

  /// What a giant value in a hostile file may take up.
  private static let heapBytesMax = 256 << 20

  /// SQLite's own form of a file name with options; every byte but plain ones is escaped.
  private static func immutableURI(_ path: String) -> String {
    let absolute = URL(fileURLWithPath: path).path
    let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-".utf8)
    var escaped = ""
    for byte in absolute.utf8 {
      if plain.contains(byte) {
        escaped.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = String(byte, radix: 16)
        escaped += "%" + (digits.count == 1 ? "0" : "") + digits
      }
    }
    return "file:\(escaped)?mode=ro&immutable=1"
  }

  /// Only a database whose every table is word for word ours is looked at any further: no views,
  /// triggers, indexes or virtual tables of a stranger's.
  ///
  /// - Returns: the schema's version.
  private static func checkSchema(_ database: Database, path: String) throws -> Int64 {
    let version = try version(in: database)
    guard version <= Schema.version else {
      throw StoreError.schemaTooNew(path: path, found: version)
    }
    guard version >= Schema.oldestVersion else {
      throw StoreError.notSession(path: path, cause: "schema \(version)")
    }
    let expected = Dictionary(
      uniqueKeysWithValues: Schema.tables.map { ($0.name, $0.createSQL(version: version)) })
    let rows = try Row.fetchAll(
      database, sql: "SELECT type, name, sql FROM sqlite_schema ORDER BY name LIMIT 100")
    for row in rows {
      let values = row.cells.map(\.storage)
      guard case .string(let name) = values[1] else {
        throw StoreError.schemaUnknown(path: path, object: "?")
      }
      guard case .string("table") = values[0], case .string(let sql) = values[2],
        expected[name] == sql
      else { throw StoreError.schemaUnknown(path: path, object: name) }
    }
    let found = Set(rows.compactMap { String.fromDatabaseValue($0.cells[1]) })
    for table in Schema.tables where !found.contains(table.name) {
      throw StoreError.schemaUnknown(path: path, object: table.name)
    }
    SchemaReadLimit.end(database)
    return version
  }

  static func version(in database: Database) throws -> Int64 {
    try Int64.fetchOne(database, sql: "PRAGMA user_version") ?? 0
  }

  static func fact(_ key: String, in database: Database) throws -> String? {
    let value = try DatabaseValue.fetchOne(
      database, sql: "SELECT value FROM meta WHERE key = ?", arguments: [key])
    return value.flatMap { String.fromDatabaseValue($0) }
  }

  /// A fact of the whole session, as the writer set it.
  package func meta(_ key: String) throws(StoreError) -> String? {
    try read { try Self.fact(key, in: $0) }
  }

  /// The last commit in the file.
  package func lastCommit() throws(StoreError) -> StoreWriter.Commit {
    try read { try Self.lastCommit(in: $0) }
  }

  static func lastCommit(in database: Database) throws -> StoreWriter.Commit {
    guard let ordinal = try fact("commit", in: database).flatMap({ Int($0) }),
      let digest = try fact("digest", in: database).flatMap({ Digest128(hex: $0) })
    else { throw RowDamage(table: "meta", column: "value") }
    return StoreWriter.Commit(ordinal: ordinal, digest: digest)
  }

  func read<Value>(_ body: (Database) throws -> Value) throws(StoreError) -> Value {
    try storeErrors(at: path, writing: false) {
      try queue.read { database in
        do {
          return try body(database)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_TOOBIG {
          throw Self.giant(in: database, version: Int64(schemaVersion)) ?? error
        }
      }
    }
  }
}
