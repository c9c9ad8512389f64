import Foundation
import GRDBSQLite

/// Detects whether the process can allocate memory.
enum AddressSpaceLimit {
  /// In bytes: more than SQLite allocates at once for anything in a session.
  private static let probeBytes = 64 << 20
  /// In bytes: larger than any value of a session, and than any single allocation of a page cache.
  static let giantBytes: Int64 = 32 << 20

  static var isThere: Bool {
    // glibc maps a block above 32 MiB separately (man 3 mallopt), so freed pieces of the heap
    // cannot answer for the system, and `free` returns it at once.
    // SAFETY: only this function uses the block and frees it; no byte is written to it.
    guard let block = malloc(probeBytes) else { return false }
    free(block)
    return true
  }

  /// SQLite reports a lack of memory both if an allocation fails and if a value exceeds its limit.
  /// Another thread may have freed memory since. So the largest request decides, and if giant
  /// values were requested before, whether an allocation succeeds now.
  static var isCauseOfRefusal: Bool { isCause(largestBytes: largestRequestBytes) }

  static func isCause(largestBytes: Int64, hasRoom: Bool = isThere) -> Bool {
    largestBytes < giantBytes || !hasRoom
  }

  /// The largest block that SQLite has requested in this process, even if the request failed.
  static var largestRequestBytes: Int64 {
    var (now, most): (Int64, Int64) = (0, 0)
    // SAFETY: both numbers live until the call has returned.
    guard sqlite3_status64(SQLITE_STATUS_MALLOC_SIZE, &now, &most, 0) == SQLITE_OK else {
      return .max
    }
    return most
  }
}
