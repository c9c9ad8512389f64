import Foundation
package import RetakeCore

/// Failures of disks, mounts and stores: the same test may succeed on another machine, or a minute later.
package enum Infrastructure {
  private static let codes: Set = [
    "media.open.unreadable", "session.list.unreadable", "session.open.unreadable",
    "store.diskFull", "store.permission", "suite.store.noFolder", "suite.store.noRoom",
    "suite.store.rclone",
  ]

  /// The messages of the system and of SQLite for a disk that is full or fails, a mount that
  /// disappeared, and too many open files.
  private static let causes = Set(
    [EIO, ENOSPC, EDQUOT, ESTALE, ENOTCONN, ETIMEDOUT, EMFILE, ENFILE].map {
      String(cString: strerror($0))
    }
  ).union(["disk I/O error", "unable to open database file"])

  package static func isCause(of error: any CodedError) -> Bool {
    guard let cause = error.cause else { return codes.contains(error.code) }
    // A file in place of a folder.
    if codes.contains(error.code) { return cause != String(cString: strerror(ENOTDIR)) }
    // A recording that is absent is an error of the project. A link to an absent disk is not, and
    // only such an error has a cause.
    return causes.contains(cause) || error.code == "suite.select.noRecording"
  }
}
