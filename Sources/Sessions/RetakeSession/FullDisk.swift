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
  /// - Parameters:
  ///   - path: Where the result would be; the error itself may name a hidden file.
  ///   - needBytes: The size of the complete result, if it is known.
  package static func error(
    _ error: any Error, writing path: String, needBytes: Int64? = nil
  ) -> any Error {
    if case SessionError.noRoomForCopy(_, let need, let free) = error {
      return SessionError.noRoomForCopy(path: path, needBytes: need, freeBytes: free)
    }
    guard let full = place(of: error, writing: path) else { return error }
    let need = needBytes.map { "; \(ByteText.of($0)) are needed" } ?? ""
    return ErrorFacts(
      "session.disk.full",
      "this cannot be written: no space left on \(FreeSpace.disk(above: full))\(need); "
        + "nothing was left behind",
      at: path, advice: advice)
  }

  /// A path on the disk that is full, which may be the disk of temporary files; `nil` for errors with
  /// other causes.
  private static func place(of error: any Error, writing path: String) -> String? {
    switch error {
    case StoreError.diskFull(let place): place
    case MediaError.write(let file, let number, _):
      [ENOSPC, EDQUOT].contains(number) ? file ?? path : nil
    case SessionError.write(let place, let cause): texts.contains(cause) ? place : nil
    case is any CodedError: nil
    default: error.isFullDisk ? path : nil
    }
  }

  /// The causes that `systemText` returns for a full disk and a used quota.
  private static let texts = [ENOSPC, EDQUOT].map { String(cString: strerror($0)) }
}
