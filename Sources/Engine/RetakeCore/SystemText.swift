import Foundation

extension Error {
  /// The system's error number that caused a Foundation error; `nil` if there is no such number.
  package var systemNumber: Int32? {
    let error = self as NSError
    if error.domain == NSCocoaErrorDomain, error.code == CocoaError.fileWriteOutOfSpace.rawValue {
      return ENOSPC
    }
    // Foundation stores a `POSIXError` here, which converts to `NSError` only if it is cast as an
    // error.
    let underlying = error.userInfo[NSUnderlyingErrorKey] as? any Error
    let deepest = underlying.map { $0 as NSError } ?? error
    // Codes of other domains are not `errno`: `strerror` would name an unrelated error.
    return deepest.domain == NSPOSIXErrorDomain ? Int32(clamping: deepest.code) : nil
  }

  /// The system's message for the error, as the cause of another error: "Not a directory".
  package var systemText: String {
    systemNumber.map { String(cString: strerror($0)) } ?? localizedDescription
  }
}
