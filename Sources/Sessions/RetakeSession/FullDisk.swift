import Foundation
import RetakeCore
import RetakeMedia
import RetakeStore

/// The one error of all copies and exports that found their disk full. They write under a hidden
/// name and remove it, so a full disk leaves nothing.
package enum FullDisk {
  static let advice = "Free space on it, or write to another disk; df -h lists the disks"

  /// The error for the file or session that was being written, if the cause is a full disk;
  /// otherwise the error itself.
  ///
  /// - Parameter path: Where the result would be; the error itself may name a hidden file.
  package static func error(_ error: any Error, writing path: String) -> any Error {
    if case SessionError.noRoomForCopy(_, let need, let free) = error {
      return SessionError.noRoomForCopy(path: path, needBytes: need, freeBytes: free)
    }
    guard let full = place(of: error, writing: path) else { return error }
    return ErrorFacts(
      "session.disk.full",
      "this cannot be written: no space left on \(FreeSpace.disk(above: full)); "
        + "nothing was left behind",
      at: path, advice: advice)
  }

  /// A path on the disk that is full, which may be the disk of temporary files; `nil` for errors with
  /// other causes.
  private static func place(of error: any Error, writing path: String) -> String? {
    switch error {
    case StoreError.diskFull(let place): place
    case MediaError.write(let file, let number, _):
      POSIXError(number: number).isFullDisk ? file ?? path : nil
    case SessionError.write(let place, _, let number?):
      POSIXError(number: number).isFullDisk ? place : nil
    case is any CodedError: nil
    default: error.isFullDisk ? path : nil
    }
  }
}
