import Foundation

/// The lock that SQLite's exclusive mode holds on a database, looked after from outside of SQLite.
///
/// POSIX takes all of a process's locks on a file away as soon as any part of the process closes any
/// descriptor of that file: an app that reads its own recording unlocks it, and SQLite never knows.
/// (<https://www.sqlite.org/howtocorrupt.html>, 2.2.) So the lock is taken again before each commit;
/// that changes nothing while it is held.
final class DatabaseLock {
  private let path: String
  private let descriptor: Int32
  private var log: LogState

  /// SQLite's pending, reserved and shared bytes.
  private static let first: Int64 = 0x4000_0000
  private static let count: Int64 = 512

  enum State {
    case held
    /// Another process is in the database.
    case taken(LockHolder?)
    /// Somebody was in the database, and took the log away behind its last commit.
    case logGone
    /// Somebody wrote to it.
    case changed
  }

  /// nil when the file cannot be opened. Its end takes the lock away.
  init?(_ path: String) {
    descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    self.path = path
    log = LogState(ofDatabase: path)
  }

  deinit {
    close(descriptor)
  }

  /// Takes the lock again, if it is gone, and looks whether anybody used the time.
  func state() -> State {
    var lock = Self.whole
    if fcntl(descriptor, F_SETLK, &lock) != 0 {
      guard errno == EACCES || errno == EAGAIN else { return .held }
      return .taken(holder)
    }
    let now = LogState(ofDatabase: path)
    if now == log { return .held }
    return now.file == log.file ? .changed : .logGone
  }

  /// Remembers the log as this process's own commit left it.
  func committed() {
    log = LogState(ofDatabase: path)
  }

  private var holder: LockHolder? {
    var lock = Self.whole
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

/// Which file the write-ahead log is, and how long.
private struct LogState: Equatable {
  /// 0 when there is none.
  var file: UInt64
  var bytes: Int64

  init(ofDatabase path: String) {
    var information = stat()
    let isThere = lstat(path + "-wal", &information) == 0
    file = isThere ? UInt64(information.st_ino) : 0
    bytes = isThere ? Int64(information.st_size) : 0
  }
}
