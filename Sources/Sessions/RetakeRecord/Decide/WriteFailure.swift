import Foundation
import RetakeCore

/// Why media could not be written.
struct WriteFailure: Hashable, Sendable {
  enum Step: String, Hashable, Sendable {
    case open, write, synchronize
  }

  var step: Step
  var file: String
  /// `errno`; 0 if no system call failed.
  var errorNumber: Int32
  /// The muxer's own message, if no system call failed.
  var muxerCause: String?

  /// The cause for people.
  var cause: String {
    muxerCause ?? (errorNumber == 0 ? "unknown" : POSIXError(number: errorNumber).systemText)
  }

  /// Used as the reason of the next segment.
  var word: String { "\(step.rawValue) failed (\(muxerCause ?? "\(errorNumber)"))" }
  var isDiskFull: Bool { FileSystem.diskFullNumbers.contains(errorNumber) }
  /// The file system or the process's own limit does not allow a larger file.
  var isFileFull: Bool { errorNumber == FileSystem.fileFullNumber }
}
