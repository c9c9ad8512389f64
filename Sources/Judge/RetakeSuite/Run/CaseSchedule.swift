import Foundation
import RetakeBuffers
import RetakeRuntime

/// Runs cases concurrently. Cases with the most media start first, so that no long case runs alone
/// at the end. The order has no effect on the results.
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
