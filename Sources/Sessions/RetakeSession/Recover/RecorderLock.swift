import Foundation
import RetakeCore
import RetakeStore

extension SessionError {
  /// Why a session is open: it is being recorded, or it was never closed.
  package static func notClosed(_ folder: SessionFolder) -> SessionError {
    RecorderLock.isHeld(folder.lock)
      ? .beingRecorded(path: folder.path, by: RecorderLock.holder(of: folder.lock))
      : .notClosed(path: folder.path)
  }
}

/// Shows that a process writes to a session. The file exists only during that time. If the process
/// crashes, the file remains, but the lock on it is released.
package final class RecorderLock: Sendable {
  private let descriptor: Int32

  /// Acquires the lock.
  ///
  /// - Throws: `SessionError.beingRecorded` when another process holds it, `store.file.unsafe` if
  ///   the path is not a regular file, or `.write`.
  package convenience init(taking path: String) throws {
    try self.init(taking: path, isOpen: {})
  }

  private init(taking path: String, isOpen: () -> Void) throws {
    // Asked before it is opened: opening a device may have effects, and a
    // pipe could be locked like a file.
    if RegularFile.isTaken(path) {
      do {
        _ = try RegularFile.facts(of: path)
      } catch let error as RegularFile.Refusal where error != .missing {
        throw StoreError(error, path: path)
      } catch {}
    }
    // O_CLOEXEC, because the lock belongs to the open file description (man 2
    // flock): a child process that inherits it would keep the session locked.
    let descriptor = open(
      path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0o644)
    guard descriptor >= 0 else {
      let number = errno
      let cause = number == ELOOP ? "it is a symbolic link" : POSIXError(number: number).systemText
      throw SessionError.write(path: path, cause: cause)
    }
    isOpen()
    // flock and not fcntl: no other part of this process can release it by
    // closing the file, and the kernel releases it when the process is killed.
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      // `close` may change errno.
      let number = errno
      close(descriptor)
      guard number == EWOULDBLOCK else {
        throw SessionError.write(path, POSIXError(number: number))
      }
      // The session, which the advice names as an argument, and not the file of the lock.
      let session = URL(fileURLWithPath: path).deletingLastPathComponent().path
      throw SessionError.beingRecorded(path: session, by: Self.holder(of: path))
    }
    self.descriptor = descriptor
  }

  /// Creates the file of a new session. The path exists only once the lock is held, so that no
  /// process mistakes it for the file of a killed recorder.
  ///
  /// - Parameter isMade: Called when the file exists under another name, before the lock is held.
  /// - Throws: `SessionError.write` and others, as `init(taking:)` does.
  package convenience init(
    creating path: String, isMade: () -> Void = {}
  ) throws {
    let hidden = path + ".new"
    try self.init(taking: hidden, isOpen: isMade)
    // The lock belongs to the open file, so it survives the new name.
    guard rename(hidden, path) == 0 else {
      throw SessionError.write(path, POSIXError.last)
    }
  }

  deinit {
    close(descriptor)
  }

  /// Whether a process holds the lock now.
  package static func isHeld(_ path: String) -> Bool {
    guard let descriptor = try? RegularFile.descriptor(path).number else { return false }
    defer { close(descriptor) }
    // A shared lock is enough to ask, and two processes that ask at once do not mistake each other
    // for a recorder.
    return flock(descriptor, LOCK_SH | LOCK_NB) != 0
  }

  /// A description of the process that holds the lock; nil if the system does not report it.
  package static func holder(of path: String) -> String? {
    LockHolder.of(path).map { "\($0)" }
  }

  /// Removes the file at its current path. The lock ends with the last reference.
  package func remove(_ path: String) {
    unlink(path)
  }
}
