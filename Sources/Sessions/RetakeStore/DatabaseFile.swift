import Foundation
package import RetakeCore

/// Checks a database file before SQLite opens it, and makes a private copy if one is needed.
///
/// SQLite follows symbolic links, and accepts a file with the right name as its log. A database may
/// come from an untrusted source, so it and each file that SQLite would use with it must be regular
/// files.
enum DatabaseFile {
  /// Rejects files that are not SQLite databases, or are shorter than their header says.
  static func check(_ path: String) throws {
    let size = try checkedFacts(path).bytes
    guard size > 0 else { throw StoreError.notSession(path: path, cause: "an empty file") }
    // The header has 100 bytes, with the page size at 16 and the number of
    // pages at 28 (SQLite, Database File Format, 1.3).
    let header = try head(of: path, count: 100)
    // The signature before the length: a short file of another kind is "not
    // a session", and not a session that was cut.
    guard header.starts(with: Array("SQLite format 3\0".utf8)) else {
      throw StoreError.notSession(path: path, cause: "no SQLite header")
    }
    guard header.count == 100 else {
      throw StoreError.truncated(path: path, expectedBytes: 100, actualBytes: size)
    }
    let pageSize = bigEndian(header[16..<18])
    // A page of 65,536 bytes does not fit the field's 16 bits; the format stores it as 1.
    let expected = (pageSize == 1 ? 65_536 : pageSize) * bigEndian(header[28..<32])
    // A checkpoint or a transaction that was interrupted may have written the header before the
    // last pages. SQLite settles that from the log or the journal, so the file may be shorter then.
    guard size >= expected || hasJournal(path) else {
      throw StoreError.truncated(path: path, expectedBytes: expected, actualBytes: size)
    }
  }

  /// Rejects a database, or a file that SQLite would use with it, that is not a regular file.
  ///
  /// - Returns: the identity of the database file, for checking later whether it is still the same.
  static func checkedFacts(_ path: String) throws -> RegularFile.Facts {
    let database = try facts(path)
    for suffix in companionSuffixes where RegularFile.isTaken(path + suffix) {
      // A log that has disappeared by now was merged into the database.
      do {
        _ = try RegularFile.facts(of: path + suffix)
      } catch let error as RegularFile.Refusal where error != .missing {
        throw StoreError(error, path: path + suffix)
      } catch {}
    }
    try checkJournal(path)
    return database
  }

  /// Rejects a rollback journal that names a super-journal: SQLite deletes the file of that name
  /// after it has played the journal back. Only a transaction over several databases creates such a
  /// journal.
  ///
  /// The format: <https://www.sqlite.org/fileformat2.html#the_rollback_journal>.
  private static func checkJournal(_ path: String) throws {
    let journal = path + "-journal"
    // A journal that is there and is not a regular file was refused by the caller before.
    guard let handle = try? RegularFile.handle(journal) else { return }
    defer { try? handle.close() }
    // The name of a super-journal is at the end, followed by its length, its
    // checksum and this magic. SQLite ignores the name if the magic is not there.
    guard let bytes = try? handle.seekToEnd(), bytes >= UInt64(journalMagic.count),
      (try? handle.seek(toOffset: bytes - UInt64(journalMagic.count))) != nil,
      let end = try? handle.read(upToCount: journalMagic.count), end.elementsEqual(journalMagic)
    else { return }
    throw StoreError.unsafeFile(path: journal, cause: "it names a journal of other databases")
  }

  // The eight bytes that begin every rollback journal.
  private static let journalMagic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]

  static func facts(_ path: String) throws -> RegularFile.Facts {
    do {
      return try RegularFile.facts(of: path)
    } catch let error as RegularFile.Refusal {
      throw StoreError(error, path: path)
    }
  }

  /// True while a write-ahead log or a rollback journal is next to the database.
  static func hasJournal(_ path: String) -> Bool {
    journalSuffixes.contains { RegularFile.isTaken(path + $0) }
  }

  /// Whether a new database can have this name. SQLite would use an old log for the new database.
  static func isFree(_ path: String) -> Bool {
    !([""] + companionSuffixes).contains { RegularFile.isTaken(path + $0) }
  }

  private static let journalSuffixes = ["-wal", "-journal"]
  /// The suffixes of all files that SQLite opens next to a database.
  private static let companionSuffixes = journalSuffixes + ["-shm"]

  /// Maximum number of attempts to copy a database that a recorder modifies during the copy.
  private static let attemptCount = 8

  /// Copies the database and its journal to a new folder, as they were at one instant.
  static func privateCopy(of path: String) throws -> PrivateCopy {
    for _ in 0..<attemptCount {
      let before = try state(of: path)
      do {
        // Copied without a lock, so that a recorder never waits for a reader. A commit only appends
        // to the log; a checkpoint makes the two states differ, and the copy is then made again.
        let copy = try PrivateCopy(of: path, suffixes: journalSuffixes)
        if try state(of: path) == before { return copy }
      } catch StoreError.missing(let file) where file != path {
        // The recorder has just merged its log into the database.
      }
    }
    throw StoreError.busy(path: path, holder: LockHolder.ofDatabase(path))
  }

  /// The data that a checkpoint changes: the database file's size and time, and the log's header.
  private struct State: Equatable {
    var database: RegularFile.Facts
    var logHeader: [UInt8]
  }

  private static func state(of path: String) throws -> State {
    State(
      // A log that is missing counts as an empty header: a log that appears or is removed meanwhile
      // makes the two states differ.
      database: try facts(path), logHeader: (try? head(of: path + "-wal", count: 32)) ?? [])
  }

  /// A database, including its log, has at most a quarter as many rows as bytes.
  static func rowCountMax(_ path: String) throws -> Int {
    // A row has a cell pointer of 2 bytes, a length of at least 1 and a record header of at least
    // 2, so the quotient is above any true number of rows.
    let log = (try? facts(path + "-wal").bytes) ?? 0
    return Int((try facts(path).bytes + log) / 4)
  }

  /// The first bytes of a file, fewer if it is shorter.
  ///
  /// - Throws: `StoreError.readFailed` when the disk fails, which does not mean that the file is
  ///   damaged.
  static func head(of path: String, count: Int) throws -> [UInt8] {
    do {
      return [UInt8](try RegularFile.head(path, count: count))
    } catch let error as RegularFile.Refusal {
      throw StoreError(error, path: path)
    }
  }

  private static func bigEndian(_ bytes: ArraySlice<UInt8>) -> Int64 {
    bytes.reduce(0) { $0 << 8 | Int64($1) }
  }
}

extension StoreError {
  /// The file, or its folder if that is the reason why the file cannot be read.
  private static func closed(_ path: String) -> String {
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    return access(folder, X_OK) == 0 ? path : folder
  }

  package init(_ refusal: RegularFile.Refusal, path: String) {
    switch refusal {
    case .missing: self = .missing(path: path)
    case .folder: self = .notSession(path: path, cause: "a folder")
    case .link, .special: self = .unsafeFile(path: path, cause: refusal.description)
    case .tooLarge: self = .unsafeFile(path: path, cause: refusal.description)
    case .system(EACCES), .system(EPERM): self = .noPermission(path: Self.closed(path))
    case .system: self = .readFailed(path: path, cause: refusal.description)
    }
  }
}
