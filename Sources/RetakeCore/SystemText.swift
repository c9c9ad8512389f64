import Foundation

extension Error {
  /// The system's number behind an error of Foundation's; `nil` if it names none.
  package var systemNumber: Int32? {
    let error = self as NSError
    if error.domain == NSCocoaErrorDomain, error.code == CocoaError.fileWriteOutOfSpace.rawValue {
      return ENOSPC
    }
    // Foundation keeps a `POSIXError` there, which is an `NSError` only when it is asked as an error.
    let underlying = error.userInfo[NSUnderlyingErrorKey] as? any Error
    let deepest = underlying.map { $0 as NSError } ?? error
    return deepest.domain == NSPOSIXErrorDomain ? Int32(clamping: deepest.code) : nil
  }

  /// What the system says of it, for the cause of an error: "Not a directory".
  package var systemText: String {
    systemNumber.map { String(cString: strerror($0)) } ?? localizedDescription
  }
}
