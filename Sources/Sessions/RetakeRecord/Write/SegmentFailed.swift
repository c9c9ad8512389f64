import Foundation
import RetakeCore
import RetakeMedia

/// A segment cannot be written any more.
struct SegmentFailed: Error {
  var failure: WriteFailure

  init(_ failure: WriteFailure) {
    self.failure = failure
  }

  init(_ error: any Error, file: String) {
    guard case MediaError.write(_, let number, _) = error else {
      // The muxer refused the packet, or had no memory for it, and no system call failed.
      failure = WriteFailure(
        step: .write, file: file, errorNumber: 0,
        muxerCause: error.facts.cause ?? error.facts.message)
      return
    }
    failure = WriteFailure(step: .write, file: file, errorNumber: number)
  }
}
