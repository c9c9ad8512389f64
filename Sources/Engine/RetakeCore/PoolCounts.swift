/// Counts of a pool that adapts to the load.
public struct PoolCounts: Hashable, Sendable, Codable {
  /// The pool's ID in the pipeline.
  public var pool: String
  /// Buffers at the end.
  public var size: Int
  /// The largest number of buffers that were held at once.
  public var peak = 0
  /// All requests for a buffer, including `stalls`.
  public var requests = 0
  /// Requests that found no buffer.
  public var stalls = 0
  /// Buffers that came back: divided by the time, the pool's velocity.
  public var completed = 0
  /// Changes of size, including changes that recreate the same number of buffers; at most 50.
  public var resizes = 0
  /// Whether the breaker turned it into a fixed pool.
  public var isBroken = false

  package init(pool: String, size: Int) {
    self.pool = pool
    self.size = size
  }
}
