import Foundation
import RetakeBuffers
import RetakeCore
import RetakeRecord
import RetakeRuntime

/// Runs cases concurrently. Cases with the most media start first, so that no long case is left
/// alone at the end. The order has no effect on the results.
struct CaseSchedule {
  /// The most cases that run at once.
  var jobs: Int

  /// Runs all of them.
  ///
  /// - Returns: The results in the order of the cases.
  /// - Throws: The error of the first case that failed. No other case starts after that.
  func run<Item: Sendable, Result: Sendable>(
    _ items: [Item], bytes: (Item) -> Int,
    body: @escaping @Sendable (Item) throws -> Result
  ) throws -> [Result] {
    let sizes = items.map(bytes)
    // By place as well, so that items of equal size start in a fixed order.
    let order = items.indices.sorted { (-sizes[$0], $0) < (-sizes[$1], $1) }
    let state = Locked(State<Result>(results: items.map { _ in nil }))
    // Returns when every iteration has ended, so no thread outlives this call.
    NamedThread.concurrently(min(jobs, items.count), "retake-case") { _ in
      while let place = state.withLock({ $0.take(from: order.count) }) {
        let index = order[place]
        do {
          let result = try body(items[index])
          state.withLock { $0.results[index] = result }
        } catch {
          state.withLock { $0.failure = $0.failure ?? error }
        }
      }
    }
    let end = state.withLock { $0 }
    if let failure = end.failure { throw failure }
    return end.results.compactMap { $0 }
  }

  private struct State<Result: Sendable>: Sendable {
    var results: [Result?]
    var begun = 0
    var failure: (any Error)?

    mutating func take(from count: Int) -> Int? {
      guard failure == nil, begun < count else { return nil }
      defer { begun += 1 }
      return begun
    }
  }
}

/// Memory that cases share. A case that does not fit next to the running ones waits for them.
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
