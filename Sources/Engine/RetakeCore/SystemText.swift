package import Foundation

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

  /// The text of an error that may be of Foundation, as the cause of another error. An error of
  /// this package keeps its description; Foundation's would be a dump of its fields.
  package var causeText: String {
    let isOfFoundation =
      self is CocoaError || self is POSIXError || type(of: self) is NSError.Type
    return isOfFoundation ? systemText : "\(self)"
  }

  /// Whether the error's cause is a disk, or a user's quota, without free space.
  package var isFullDisk: Bool { systemNumber.map { [ENOSPC, EDQUOT].contains($0) } ?? false }

  /// The system's message for the error, as the cause of another error: "Not a directory".
  package var systemText: String {
    systemNumber.map { String(cString: strerror($0)) } ?? localizedDescription
  }
}

extension POSIXError {
  /// The error of the last call of the system that failed.
  package static var last: POSIXError { POSIXError(number: errno) }

  /// A number that the platform does not name becomes `EIO`.
  package init(number: Int32) { self.init(POSIXErrorCode(rawValue: number) ?? .EIO) }
}
