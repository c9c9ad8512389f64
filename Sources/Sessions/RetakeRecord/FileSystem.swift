import Foundation
import RetakeSession

/// The system calls of a recorder that differ between C libraries.
enum FileSystem {
  /// The error numbers that mean that the disk is full.
  static let diskFullNumbers: Set<Int32> = [ENOSPC, EDQUOT]
  /// The error number that means that a file may not grow.
  static let fileFullNumber = EFBIG

  /// Creates a file that must not exist. Returns the descriptor, or the negated error number.
  static func create(_ path: String) -> Int32 {
    // O_EXCL: an earlier file of this name is never overwritten, not even through a link.
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    return descriptor >= 0 ? descriptor : -errno
  }

  /// Makes a file's bytes and its length durable. Returns 0 or the error number.
  static func synchronizeData(_ descriptor: Int32) -> Int32 {
    #if canImport(Darwin)
      // On Darwin fsync leaves the bytes in the disk's own cache (man 2 fsync there).
      return fcntl(descriptor, F_FULLFSYNC) == -1 ? errno : 0
    #else
      // Of a file's facts it also writes the length, without which new bytes cannot be read back;
      // only times are left out (man 2 fdatasync).
      return fdatasync(descriptor) == 0 ? 0 : errno
    #endif
  }

  /// Makes a folder's entries durable. Returns 0 or the error number.
  static func synchronizeFolder(_ path: String) -> Int32 {
    // A new or renamed file is durable only with the folder that names it (man 2 fsync).
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return errno }
    defer { close(descriptor) }
    return fsync(descriptor) == 0 ? 0 : errno
  }

  /// Bytes that an unprivileged user may still write at the path; nil when unknown.
  static func freeBytes(at path: String) -> Int64? { FreeSpace.freeBytes(at: path) }

  /// Renames a folder, unless the target exists already.
  static func move(_ path: String, to target: String) -> Int32 {
    // man 2 rename: a folder replaces an empty one only, and a session's folder is never empty.
    rename(path, target) == 0 ? 0 : errno
  }

  /// The device and the number of the file or folder that has this name now; nil without one. A
  /// symbolic link is not followed.
  static func identity(of path: String) -> [UInt64]? {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    return [UInt64(truncatingIfNeeded: status.st_dev), UInt64(status.st_ino)]
  }

  /// Makes exceeding the process's file size limit an ordinary error instead of a signal.
  static func ignoreSizeSignal() {
    signal(SIGXFSZ, SIG_IGN)
  }
}
