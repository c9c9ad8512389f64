import Foundation

/// Keeps other processes from changing a golden's folder while it is read or changed.
///
/// The lock is on the folder itself, so that it creates no file and ends with its holder.
final class FolderLock {
  enum Kind {
    /// Several readers may hold it at the same time.
    case reading
    case writing
  }

  private let descriptor: Int32

  /// Waits for the lock. A folder that cannot be opened is not locked.
  init(_ folder: URL, _ kind: Kind) {
    // O_CLOEXEC: a `flock` belongs to the open file description (`man 2 flock`). A child that
    // inherited it would keep the lock after this process has ended.
    descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    // A signal may interrupt the wait. Where the file system has no locks the call fails at once;
    // then the renames alone keep each file complete.
    while flock(descriptor, kind == .reading ? LOCK_SH : LOCK_EX) != 0 && errno == EINTR {}
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }
}

/// Makes the entries of a folder survive a power failure, if the file system supports it.
func synchronize(folder: URL) {
  let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  // Not an error: the files are complete either way, and only a power failure could undo the
  // rename.
  guard descriptor >= 0 else { return }
  fsync(descriptor)
  close(descriptor)
}

/// Renames a file atomically, replacing an existing target.
func replace(_ target: URL, with source: URL) throws {
  guard rename(source.path, target.path) == 0 else {
    throw GoldenError.io(
      path: target.path, action: "put the file in its place",
      cause: POSIXError.last.systemText)
  }
}
