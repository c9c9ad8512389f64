import Foundation
import RetakeCore

/// Rows followed by a checksum: `B 64 1c77…`, as in results.
struct StageBlock {
  private(set) var rows = 0
  private var text = ""

  mutating func begin(_ header: String) { text = header }

  mutating func append(_ row: String) {
    text += row
    rows += 1
  }

  /// The line that ends the block; then a new block begins.
  mutating func end() -> String {
    defer { self = StageBlock() }
    return "B \(rows) \(Digest128(of: text))\n"
  }
}
