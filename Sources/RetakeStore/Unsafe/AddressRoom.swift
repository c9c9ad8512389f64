import Foundation

/// Whether the process can get memory at all.
enum AddressRoom {
  /// Bytes: more than SQLite wants at once for anything that a session holds.
  private static let probeBytes = 64 << 20

  /// SQLite says that it got no memory both where there is none and where a value is larger than it
  /// ever asks the system for: this tells one from the other.
  static var isThere: Bool {
    // SAFETY: nobody else sees the block, and it is freed here; nothing is written to it.
    guard let block = malloc(probeBytes) else { return false }
    free(block)
    return true
  }
}
