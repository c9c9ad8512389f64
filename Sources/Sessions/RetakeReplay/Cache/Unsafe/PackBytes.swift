import Foundation

/// Writes bytes to a pack.
enum PackBytes {
  /// Writes all bytes at an offset of a file.
  static func write(
    _ bytes: [UInt8], to descriptor: Int32, at offset: Int
  ) throws(CacheFailure) {
    var done = 0
    while done < bytes.count {
      // SAFETY: the system reads only the rest of the buffer.
      let count = bytes.withUnsafeBytes { buffer in
        pwrite(
          descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done,
          off_t(offset + done))
      }
      guard count > 0 || errno == EINTR else { throw CacheFailure() }
      done += max(0, count)
    }
  }
}

/// The system's reason why a write failed.
struct CacheFailure: Error {
  let cause = POSIXError.last.systemText
}
