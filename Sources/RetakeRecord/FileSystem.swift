import Foundation
import RetakeSession

/// The few calls that a recorder makes to the system itself, where C libraries differ.
enum FileSystem {
  /// The error numbers that mean that there is no more room.
  static let diskFullNumbers: Set<Int32> = [ENOSPC, EDQUOT]
  /// The one that means that a file may not be larger.
  static let fileFullNumber = EFBIG

  /// Creates a file that must not exist. Returns the descriptor, or minus the error number.
  static func create(_ path: String) -> Int32 {
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    return descriptor >= 0 ? descriptor : -errno
  }

  /// Makes a file's bytes and its length durable. Returns 0 or the error number.
  static func synchroniseData(_ descriptor: Int32) -> Int32 {
    #if canImport(Darwin)
      return fcntl(descriptor, F_FULLFSYNC) == -1 ? errno : 0
    #else
      return fdatasync(descriptor) == 0 ? 0 : errno
    #endif
  }

  /// Makes a folder's entries durable. Returns 0 or the error number.
  static func synchroniseFolder(_ path: String) -> Int32 {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return errno }
    defer { close(descriptor) }
    return fsync(descriptor) == 0 ? 0 : errno
  }

  /// Bytes that an ordinary user may still write where the path lies; nil when nobody can say.
  static func freeBytes(at path: String) -> Int64? { DiskRoom.freeBytes(at: path) }

  /// Gives a folder another name, unless something is there already.
  static func move(_ path: String, to target: String) -> Int32 {
    rename(path, target) == 0 ? 0 : errno
  }

  static func text(_ errorNumber: Int32) -> String { String(cString: strerror(errorNumber)) }

  /// A file that reaches the process's size limit gives an error like any other, no signal.
  static func ignoreSizeSignal() {
    signal(SIGXFSZ, SIG_IGN)
  }
}
