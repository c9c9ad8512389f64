import Foundation
import RetakeRecord

/// Memory that cases share. A case that does not fit next to the running cases waits for them.
package final class MemoryShare: @unchecked Sendable {
  // SAFETY: @unchecked because of the mutable state, guarded by `condition`.
  private let condition = NSCondition()
  private let total: Int
  private var held = 0

  /// - Parameter bytes: The memory for all cases together. A single case may use more.
  init(bytes: Int) {
    total = bytes
  }

  /// The value for a system that does not report its available memory.
  private static let bytesUnknown: Int64 = 2 << 30

  /// Half of the memory that is available now.
  package static var ofMachine: MemoryShare {
    MemoryShare(bytes: Int(FreeMemory().availableBytes ?? bytesUnknown) / 2)
  }

  func holding<Result>(_ bytes: Int, _ body: () throws -> Result) rethrows -> Result {
    condition.withLock {
      // A case that needs more than the total runs when it is alone. It would wait forever
      // otherwise.
      while held > 0, held + bytes > total { condition.wait() }
      held += bytes
    }
    defer {
      condition.withLock {
        held -= bytes
        // To all of them: the case that waited longest may still not fit where a smaller one does.
        condition.broadcast()
      }
    }
    return try body()
  }
}
