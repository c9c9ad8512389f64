import Foundation

/// Keeps a session of the local cache from being removed, as long as this object exists.
package final class SessionLease: Sendable {
  /// The session's folder.
  package let path: String
  /// The lock is released when the handle is closed, which is when no one has it any more.
  private let lock: FileHandle

  init(path: String, lock: FileHandle) { (self.path, self.lock) = (path, lock) }
}
