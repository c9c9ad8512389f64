import Synchronization

/// Counts of a pool's buffers so far.
public struct PoolReport: Hashable, Sendable {
  /// Each lease has ended, was leaked, or is still held.
  public struct Stage: Hashable, Sendable {
    /// The name that was given to `lease(for:)`.
    public var stage: String
    /// Leases that the stage got. Leases whose buffer could not be created do not count.
    public var leased = 0
    /// Leases that the stage ended, each counted once.
    public var ended = 0
    /// Leases that were released without an end.
    public var leaked = 0
    /// Ends of leases that had already ended.
    public var endedTwice = 0

    /// Leases that are neither ended nor leaked.
    public var held: Int { leased - ended - leaked }
  }

  /// The number of buffers that may exist now.
  public var size: Int
  /// Buffers that are held now.
  public var inUse: Int
  /// The largest number of buffers that were held at once.
  public var peak: Int
  /// Requests that found no buffer.
  public var stalls: Int
  /// Requests that got a buffer although all were held. Only in the body of a stage, in a replay,
  /// where no pool refuses one.
  public var overflows: Int
  /// Buffers that could not be created. A request for one is not a stall.
  public var allocationFailures: Int
  /// Changes of size, including recreations of the same number of buffers; 0 for a fixed pool.
  public var resizes: Int
  /// Whether the breaker has turned it into a fixed pool.
  public var isBroken: Bool
  /// In the byte order of their names.
  public var stages: [Stage]

  /// Problems, in words, each with its stage.
  public var faults: [String] {
    stages.flatMap { stage in
      [
        stage.leaked > 0 ? "'\(stage.stage)' leaked \(stage.leaked) of its leases" : nil,
        stage.endedTwice > 0 ? "'\(stage.stage)' ended \(stage.endedTwice) leases twice" : nil,
      ].compactMap(\.self)
    }
  }
}
