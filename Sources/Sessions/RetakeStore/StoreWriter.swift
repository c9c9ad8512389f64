import Foundation
import GRDB
package import RetakeCore

/// The only connection that writes a session's database.
///
/// Rows are collected in memory and become durable together, at `commit()`, with the running digest
/// of everything written so far. After a failed commit the writer is closed permanently, because a
/// failed fsync must not be retried. If another process has locked the database, the commit does
/// not begin, and its rows wait for the next one. May be used from any thread, one call at a time.
package final class StoreWriter: @unchecked Sendable {
  // SAFETY: @unchecked because of the mutable state below, all of it guarded by `lock`.

  package enum Durability: Sendable {
    /// WAL and synchronous=FULL: committed data survives a loss of power.
    case recording
    /// No journal on disk: for a folder that is discarded unless it is finished.
    case building
  }

  /// Declared before the connection, so that it is released first.
  private let room: ThreadLimit
  package let path: String
  private let durability: Durability
  private let version: Int64
  private let lock = NSLock()
  /// nil while another process has locked the database, or has removed its log.
  private var queue: DatabaseQueue?
  private var guardian: DatabaseLock?
  private var pending: [Change] = []
  private var running: RunningDigest
  private var commitOrdinal: Int
  private var isClosed = false
  /// The statements that add rows. Composing their text for each row costs as much as SQLite's work.
  private var insertions: [Insertion: String] = [:]

  private struct Change {
    var table: Schema.Table
    var values: [DatabaseValue]
    var replaces: Bool
    var insertion: Insertion { Insertion(table: table.name, replaces: replaces) }
  }

  private struct Insertion: Hashable {
    var table: String
    var replaces: Bool
  }

  /// A durable commit.
  package struct Commit: Hashable, Sendable {
    /// Starts at 1; 0 is the empty database.
    package var ordinal: Int
    package var digest: Digest128
  }

  /// Creates a database at `path`, which must not exist.
  package convenience init(creating path: String, durability: Durability) throws {
    try self.init(creating: path, durability: durability, version: Schema.version)
  }

  /// Creates a database with an older schema, for tests of readers.
  init(creating path: String, durability: Durability, version: Int64) throws {
    guard DatabaseFile.isFree(path) else {
      throw StoreError.exists(path: path)
    }
    room = try ThreadLimit.reserve(for: path)
    self.path = path
    self.durability = durability
    self.version = version
    running = RunningDigest()
    commitOrdinal = 0
    let queue = try storeErrors(at: path, writing: true) {
      try DatabaseQueue(path: path, configuration: Self.configuration(durability))
    }
    self.queue = queue
    // Added like any row, because the running digest covers `schema`.
    add(FactRecord.table, ["schema".databaseValue, String(version).databaseValue])
    try storeErrors(at: path, writing: true) {
      // One transaction: a recorder that is killed leaves no tables, or all of them with a first
      // digest.
      try queue.writeWithoutTransaction { database in
        try database.inTransaction {
          for table in Schema.tables(version: version) {
            try database.execute(sql: table.createSQL(version: version))
          }
          try database.execute(sql: "PRAGMA user_version = \(version)")
          try flush(database)
          return .commit
        }
      }
    }
  }

  /// Continues an existing database of this schema after its last commit. A log that a crash left
  /// is recovered first. The database is not checked; check it with a `StoreReader` before.
  package init(continuing path: String) throws {
    try DatabaseFile.check(path)
    room = try ThreadLimit.reserve(for: path)
    self.path = path
    durability = .recording
    let (queue, last, version) = try Self.opened(path)
    (self.queue, self.version) = (queue, version)
    running = RunningDigest(last.digest)
    commitOrdinal = last.ordinal
    guardian = DatabaseLock(path)
  }

  /// Continues a database of this process whose last commit is known. If another process has
  /// already locked it, rows wait until they can be written.
  package init(continuing path: String, after last: Commit) throws {
    room = try ThreadLimit.reserve(for: path)
    self.path = path
    durability = .recording
    version = Schema.version
    running = RunningDigest(last.digest)
    commitOrdinal = last.ordinal
    do {
      _ = try connected()
    } catch StoreError.busy {
      // Each commit tries to connect again.
      return
    }
  }

  private static func opened(
    _ path: String
  ) throws -> (DatabaseQueue, last: Commit, version: Int64) {
    // SQLite opens the file by its name. If the name leads to another file afterwards, the opened
    // file is not the checked file.
    let before = try DatabaseFile.checkedFacts(path)
    let opened = try storeErrors(at: path, writing: true) {
      let queue = try DatabaseQueue(path: path, configuration: configuration(.recording))
      let (last, version) = try queue.read {
        (try StoreReader.lastCommit(in: $0), try StoreReader.version(in: $0))
      }
      return (queue, last, version)
    }
    guard try DatabaseFile.checkedFacts(path).isSameFile(as: before) else {
      throw StoreError.unsafeFile(path: path, cause: "it was replaced while it was opened")
    }
    return opened
  }

  /// The connection, with the database locked exclusively for this process.
  ///
  /// - Throws: `StoreError.busy` when another process has locked it; the database is then
  ///   unchanged.
  private func connected() throws -> DatabaseQueue {
    if let queue {
      // Without a guardian, whose descriptor could not be opened, SQLite's own
      // lock has to be enough.
      switch guardian?.state() ?? .held {
      case .held: return queue
      case .taken(let holder): throw StoreError.busy(path: path, holder: holder)
      case .changed: throw lost("another program wrote to the database while it was recorded")
      // The connection still has the deleted log open. A commit through it
      // would succeed, and would be lost with the file.
      case .logGone: try disconnect(queue)
      }
    }
    let (opened, last, version) = try Self.opened(path)
    // Merging a log changes no row. Another digest or ordinal shows that the other process wrote.
    guard last.digest == running.value, last.ordinal == commitOrdinal, version == self.version
    else { throw lost("another program changed the database while it was recorded") }
    queue = opened
    guardian = DatabaseLock(path)
    return opened
  }

  /// A process that removed the log has merged all of it into the database before.
  private func disconnect(_ queue: DatabaseQueue) throws {
    self.queue = nil
    // After SQLite has closed: closing the guardian's descriptor releases
    // every lock of this process on the file, also SQLite's.
    defer { guardian = nil }
    try storeErrors(at: path, writing: true) { try queue.close() }
  }

  private func lost(_ cause: String) -> StoreError {
    // For good: the rows that wait, and their digest, continue a state that
    // is not in the file any more.
    isClosed = true
    return .writeFailed(path: path, cause: cause)
  }

  private static func configuration(_ durability: Durability) -> Configuration {
    var configuration = Configuration()
    configuration.label = "session writer"
    // References are declared for readers and the check. A recording must not fail because of one.
    configuration.foreignKeysEnabled = false
    configuration.prepareDatabase { database in
      // Before the log is opened: in exclusive mode SQLite then keeps the log's index
      // in its own memory, and needs no shared memory (SQLite, Write-Ahead Logging, 8).
      try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
      // Without a mapping, a file that another program cuts is an I/O error; with one it is SIGBUS.
      try database.execute(sql: "PRAGMA mmap_size = 0")
      try database.execute(sql: "PRAGMA trusted_schema = OFF")
      switch durability {
      case .recording:
        _ = try String.fetchOne(database, sql: "PRAGMA journal_mode = WAL")
        // In WAL mode only FULL syncs the log at every commit (SQLite, PRAGMA synchronous).
        try database.execute(sql: "PRAGMA synchronous = FULL")
      case .building:
        _ = try String.fetchOne(database, sql: "PRAGMA journal_mode = MEMORY")
        // `SessionBuilder` syncs the finished file once, before it gets its name; a kill before
        // leaves a folder that is removed.
        try database.execute(sql: "PRAGMA synchronous = OFF")
      }
    }
    return configuration
  }

  /// Whether the database has a table; one of an older schema has no sensors.
  func has(_ table: Schema.Table) -> Bool { table.firstVersion <= version }

  private func add(_ table: Schema.Table, _ values: [DatabaseValue], replaces: Bool = false) {
    pending.append(Change(table: table, values: values, replaces: replaces))
  }

  func append(_ rows: [some StoredRow], replaces: Bool) {
    lock.withLock {
      for row in rows { add(type(of: row).table, row.values, replaces: replaces) }
    }
  }

  /// Sets a fact about the session, such as `"name"`. Only the writer itself sets `schema`,
  /// `commit` and `digest`.
  package func setMeta(_ key: String, _ value: String) {
    precondition(!Self.ownKeys.contains(key), "the writer keeps this fact itself")
    lock.withLock {
      add(FactRecord.table, [key.databaseValue, value.databaseValue], replaces: true)
    }
  }

  /// Not part of the running digest, except for `schema`.
  static let ownKeys = ["commit", "digest", "schema"]

  /// Number of rows that wait for the next commit.
  package var pendingCount: Int { lock.withLock { pending.count } }

  /// The last commit.
  package var lastCommit: Commit {
    lock.withLock { Commit(ordinal: commitOrdinal, digest: running.value) }
  }

  /// Writes all collected rows in one transaction, with the running digest.
  @discardableResult
  package func commit() throws -> Commit {
    lock.lock()
    defer { lock.unlock() }
    return try commitLocked()
  }

  private func commitLocked() throws -> Commit {
    guard !isClosed else { throw StoreError.closed(path: path) }
    // Before `isClosed` is set: `busy` means that the close has not begun, so the rows wait for the
    // next commit.
    let queue = try connected()
    isClosed = true
    // `isClosed` stays true if the transaction throws: a failed commit is never retried.
    let commit = try storeErrors(at: path, writing: true) {
      var commit = Commit(ordinal: 0, digest: .zero)
      try queue.writeWithoutTransaction { database in
        try database.inTransaction {
          commit = try flush(database)
          return .commit
        }
      }
      return commit
    }
    isClosed = false
    guardian?.committed()
    return commit
  }

  /// Inside a transaction: writes the pending rows, then the commit's ordinal and digest.
  @discardableResult
  private func flush(_ database: Database) throws -> Commit {
    for change in pending {
      if change.replaces {
        // The sum still has the old row. If it were not subtracted, no reader
        // would get the stored digest from the rows.
        let old = try database.cachedStatement(sql: change.table.selectByKeySQL(version: version))
        old.setUncheckedArguments(StatementArguments(change.values.prefix(change.table.keyCount)))
        if let row = try Row.fetchOne(old) {
          running.subtract(RunningDigest.digest(of: row.cells, table: change.table))
        }
      }
      running.add(try write(change, to: database))
    }
    pending.removeAll(keepingCapacity: true)
    // Only `schema` is there while the tables are made: that is commit 0, the empty database.
    let isFirst = try Int.fetchOne(database, sql: "SELECT count(*) FROM meta") == 1
    if !isFirst { commitOrdinal += 1 }
    // These two rows are not added to the running digest, which cannot cover itself.
    for (key, value) in [("commit", String(commitOrdinal)), ("digest", "\(running.value)")] {
      let values = [key.databaseValue, value.databaseValue]
      _ = try write(Change(table: FactRecord.table, values: values, replaces: true), to: database)
    }
    return Commit(ordinal: commitOrdinal, digest: running.value)
  }

  /// - Returns: the row's digest.
  private func write(_ change: Change, to database: Database) throws -> Digest128 {
    let values = change.values.prefix(change.table.columnCount(version: version))
    // The digest covers only stored columns, so a writer of an older schema leaves out later
    // columns.
    let digest = RunningDigest.digest(of: Array(values), table: change.table)
    let text =
      insertions[change.insertion]
      ?? (change.replaces
        ? change.table.replaceSQL(version: version) : change.table.insertSQL(version: version))
    insertions[change.insertion] = text
    let statement = try database.cachedStatement(sql: text)
    let hasCheck = version >= Schema.firstVersionWithChecks
    let check = hasCheck ? [RunningDigest.check(of: digest).databaseValue] : []
    statement.setUncheckedArguments(StatementArguments(values + check))
    try statement.execute()
    return digest
  }

  /// Commits the waiting rows, marks the database as closed, and turns it into a single file that
  /// can be opened read-only. The writer cannot be used afterwards.
  @discardableResult
  package func close() throws -> Commit {
    lock.lock()
    defer { lock.unlock() }
    add(FactRecord.table, ["closed".databaseValue, "1".databaseValue], replaces: true)
    let commit = try commitLocked()
    isClosed = true
    guard let queue else { return commit }
    try storeErrors(at: path, writing: true) {
      try queue.writeWithoutTransaction { database in
        if durability == .recording {
          _ = try Row.fetchAll(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        }
        // Reading a database in WAL mode would create files next to it. The pragma
        // does not fail: if the mode cannot be left, it returns the old one.
        let mode = try String.fetchOne(database, sql: "PRAGMA journal_mode = DELETE")
        guard mode == "delete" else {
          throw DatabaseError(message: "the journal stays \(mode ?? "unknown")")
        }
      }
      try queue.close()
    }
    return commit
  }

  /// Closes the connection, and leaves the database open for another writer to continue.
  package func release() throws {
    lock.lock()
    defer { lock.unlock() }
    isClosed = true
    pending.removeAll()
    guard let queue else { return }
    try storeErrors(at: path, writing: true) { try queue.close() }
  }

  /// Closes without a last commit: uncommitted rows are lost, as in a crash.
  package func abandon() {
    lock.withLock {
      isClosed = true
      pending.removeAll()
    }
  }
}
