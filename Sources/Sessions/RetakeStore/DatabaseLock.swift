import Foundation

/// Keeps the lock that SQLite's exclusive mode holds on a database, from outside SQLite.
///
/// POSIX releases all locks of a process on a file as soon as any part of the process closes any
/// descriptor of that file. An app that reads its own recording therefore unlocks it, without
/// SQLite noticing. (<https://www.sqlite.org/howtocorrupt.html>, 2.2.) So the lock is taken again
/// before each commit, which has no effect while it is held.
final class DatabaseLock {
  private let path: String
  private let descriptor: Int32
  private var log: LogState

  /// SQLite's pending, reserved and shared bytes.
  private static let first: Int64 = 0x4000_0000
  // PENDING_BYTE, RESERVED_BYTE and SHARED_SIZE (510) of SQLite's os.h, which follow each other.
  private static let count: Int64 = 512

  enum State {
    case held
    /// Another process has locked the database.
    case taken(LockHolder?)
    /// Another process used the database, and removed the log after merging its last commit.
    case logGone
    /// Another process wrote to the database.
    case changed
  }

  /// nil when the file cannot be opened. The deinitializer releases the lock.
  init?(_ path: String) {
    // O_RDWR because F_SETLK refuses a write lock on a descriptor that is only open for reading
    // (man 2 fcntl). The other flags refuse a link, and do not wait for a pipe or a device.
    descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    self.path = path
    log = LogState(ofDatabase: path)
  }

  deinit {
    close(descriptor)
  }

  /// Locks the database again if the lock was lost, and checks whether another process used the
  /// database meanwhile.
  func state() -> State {
    var lock = Self.whole
    if fcntl(descriptor, F_SETLK, &lock) != 0 {
      // Any other error, for example ENOLCK from a file system without locks, does not mean that
      // another program uses the database, so the recording continues.
      guard errno == EACCES || errno == EAGAIN else { return .held }
      return .taken(holder)
    }
    // With the lock held, no other process can write now. The log shows whether one did while the
    // lock was lost.
    let now = LogState(ofDatabase: path)
    if now == log { return .held }
    // SQLite appends to one file; a log that was deleted and made again has another inode.
    return now.file == log.file ? .changed : .logGone
  }

  /// Stores the state of the log after this process's own commit.
  func committed() {
    log = LogState(ofDatabase: path)
  }

  private var holder: LockHolder? {
    var lock = Self.whole
    // F_GETLK returns process -1 for the lock of an open file description, and F_UNLCK if the lock
    // was released meanwhile (man 2 fcntl). The search in /proc may still find a process then.
    guard fcntl(descriptor, F_GETLK, &lock) == 0, lock.l_type != Int16(F_UNLCK), lock.l_pid > 0
    else { return LockHolder.ofDatabase(path) }
    return LockHolder(process: Int(lock.l_pid))
  }

  private static var whole: flock {
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = off_t(first)
    lock.l_len = off_t(count)
    return lock
  }
}

extension StoreWriter {
  /// - Throws: `StoreError.busy` while another process has locked the database, also to read it.
  package static func requireUnlocked(_ path: String) throws {
    if case .taken(let holder) = DatabaseLock(path)?.state() {
      throw StoreError.busy(path: path, holder: holder)
    }
  }
}

/// Identity and size of the write-ahead log.
private struct LogState: Equatable {
  /// 0 when the log does not exist.
  var file: UInt64
  var bytes: Int64

  init(ofDatabase path: String) {
    var information = stat()
    let isThere = lstat(path + "-wal", &information) == 0
    file = isThere ? UInt64(information.st_ino) : 0
    bytes = isThere ? Int64(information.st_size) : 0
  }
}
