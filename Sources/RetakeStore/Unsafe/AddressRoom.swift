import Foundation
import GRDBSQLite

/// Whether the process can get memory at all.
enum AddressRoom {
  /// Bytes: more than SQLite wants at once for anything that a session holds.
  private static let probeBytes = 64 << 20
  /// Bytes: no value of a session is so large, and no page cache asks for so much at once.
  static let giantBytes: Int64 = 32 << 20

  static var isThere: Bool {
    // SAFETY: nobody else sees the block, and it is freed here; nothing is written to it.
    guard let block = malloc(probeBytes) else { return false }
    free(block)
    return true
  }

  /// SQLite says that it got no memory both where there is none and where a value is larger than it
  /// may take. Another thread may have freed some since: what was asked for tells one from the
  /// other, and room does where giant values were asked for before.
  static var isCauseOfRefusal: Bool { isCause(largestBytes: largestRequestBytes) }

  static func isCause(largestBytes: Int64, hasRoom: Bool = isThere) -> Bool {
    largestBytes < giantBytes || !hasRoom
  }

  /// The largest block that SQLite ever asked for in this process, also where it got none.
  static var largestRequestBytes: Int64 {
    var (now, most): (Int64, Int64) = (0, 0)
    // SAFETY: both numbers live until the call has returned.
    guard sqlite3_status64(SQLITE_STATUS_MALLOC_SIZE, &now, &most, 0) == SQLITE_OK else {
      return .max
    }
    return most
  }
}
