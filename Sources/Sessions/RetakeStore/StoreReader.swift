import Foundation
import GRDB
import RetakeCore

/// A session's database, opened for reading. It never writes to the session's folder.
///
/// A closed database is opened as immutable. A database with a journal next to it, because it is
/// being recorded or was never closed, is read from a private copy. Safe to use from any thread.
package final class StoreReader: Sendable {
  /// Declared before the connection, so that it is released first.
  private let room: ThreadLimit
  package let path: String
  /// False while a recorder writes the session, and after a recorder that crashed.
  package let isClosed: Bool
  /// Whether the database had a log or rollback journal, and was read from a private copy.
  package var hasJournal: Bool { copy != nil }
  package let schemaVersion: Int
  let queue: DatabaseQueue
  /// For an older schema, computed on first use.
  let derivedShown = DerivedShown()
  let wholeness = Wholeness()
  /// Kept because its folder is removed with the last reference.
  private let copy: PrivateCopy?

  package init(opening path: String) throws {
    room = try ThreadLimit.reserve(for: path)
    self.path = path
    try DatabaseFile.check(path)
    let before = try DatabaseFile.checkedFacts(path)
    // SQLite would recover the log in the session's folder, and write there;
    // in a copy it may. The copy is opened for writing for that reason.
    let copy = DatabaseFile.hasJournal(path) ? try DatabaseFile.privateCopy(of: path) : nil
    self.copy = copy
    let queue = try storeErrors(at: path, writing: false) {
      if let copy {
        let recovered = try DatabaseQueue(
          path: copy.path, configuration: Self.configuration(readonly: false))
        return recovered
      }
      // `immutable`: no lock, no -shm file, and no search for a log, even if the header says WAL.
      return try DatabaseQueue(
        path: ImmutableDatabase.uri(of: path), configuration: Self.configuration(readonly: true))
    }
    self.queue = queue
    let after = try DatabaseFile.checkedFacts(path)
    // A private copy was checked when it was made. Only a file that SQLite
    // opened by its name can have been exchanged in between.
    guard copy != nil || after.isSameFile(as: before) else {
      throw StoreError.unsafeFile(path: path, cause: "it was replaced while it was opened")
    }
    let (version, isClosed) = try storeErrors(at: path, writing: false) {
      try queue.read { database in
        let version = try Self.checkSchema(database, path: path)
        return (version, try Self.fact("closed", in: database) == "1")
      }
    }
    schemaVersion = Int(version)
    self.isClosed = isClosed
    // Of the copy that is read: the log next to the original may have grown since.
    rowCountMax = try DatabaseFile.rowCountMax(copy?.path ?? path)
  }

  /// Bounds reading, because a table of a damaged or malicious file may contain cycles.
  let rowCountMax: Int

  /// Copies a database and its log as they were at one instant, even while a recorder writes.
  package static func copy(_ path: String, to target: String) throws {
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
    .reading("session reader", readonly: readonly, valueBytesMax: RowReader.valueBytesMax) {
      // The limit applies to the entire process; a page cache needs a few MiB.
      _ = try Int64.fetchOne($0, sql: "PRAGMA hard_heap_limit = \(heapBytesMax)")
      // SQLite parses the complete schema at the first statement; `checkSchema` ends the limit.
      SchemaReadLimit.begin($0)
    }
  }

  /// Maximum memory of SQLite, so that a huge value in a malicious file fails.
  private static let heapBytesMax = 256 << 20

  /// Only a database whose tables match the schema exactly is read any further, without foreign
  /// views, triggers, indexes or virtual tables.
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
      uniqueKeysWithValues: Schema.tables(version: version).map {
        ($0.name, $0.createSQL(version: version))
      })
    // More objects than the schema has tables include a foreign one, which the loop below refuses.
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
    for table in Schema.tables(version: version) where !found.contains(table.name) {
      throw StoreError.schemaUnknown(path: path, object: table.name)
    }
    SchemaReadLimit.end(database)
    return version
  }

  static func version(in database: Database) throws -> Int64 {
    try Int64.fetchOne(database, sql: "PRAGMA user_version") ?? 0
  }

  static func fact(_ key: String, in database: Database) throws -> String? {
    // A value of another type, which a damaged file may have, reads as a missing fact.
    let value = try DatabaseValue.fetchOne(
      database, sql: "SELECT value FROM meta WHERE key = ?", arguments: [key])
    return value.flatMap { String.fromDatabaseValue($0) }
  }

  /// A fact about the session, as the writer set it.
  package func meta(_ key: String) throws -> String? {
    try read { try Self.fact(key, in: $0) }
  }

  /// The last commit in the file.
  package func lastCommit() throws -> StoreWriter.Commit {
    try read { try Self.lastCommit(in: $0) }
  }

  static func lastCommit(in database: Database) throws -> StoreWriter.Commit {
    guard let ordinal = try fact("commit", in: database).flatMap({ Int($0) }),
      let digest = try fact("digest", in: database).flatMap({ Digest128(hex: $0) })
    else { throw RowDamage(table: "meta", column: "value") }
    return StoreWriter.Commit(ordinal: ordinal, digest: digest)
  }

  func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try storeErrors(at: path, writing: false) {
      try queue.read { database in
        do {
          return try body(database)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_TOOBIG {
          // The code does not say which value is too large, so it is searched for here.
          throw Self.giant(in: database, version: Int64(schemaVersion)) ?? error
        }
      }
    }
  }
}
