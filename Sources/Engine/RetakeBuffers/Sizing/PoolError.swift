public import RetakeCore
import Synchronization

/// An error of a pool.
public enum PoolError: RetakeError, Hashable {
  case allocation(pool: String, cause: String)

  package var facts: ErrorFacts {
    switch self {
    case .allocation(let pool, let cause):
      ErrorFacts(
        "buffers.pool.allocation", "a buffer of the pool '\(pool)' could not be made",
        cause: cause, advice: "Try again: an adaptive pool is made again at the end of the window")
    }
  }

  /// A stable, dotted name of the case, with the module first: `"buffers.pool.allocation"`.
  public var code: String { facts.code }
  /// One sentence in the user's terms, with the pool's name and without advice.
  public var message: String { facts.message }
  /// The error of the allocation, in words.
  public var cause: String? { facts.cause }
  /// The next step for the user.
  public var advice: String? { facts.advice }
}
