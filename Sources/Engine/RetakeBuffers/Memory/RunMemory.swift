/// The memory of the frames that one run makes: one pool for each pool of the pipeline, and one
/// pool for the nodes without a pool.
///
/// These pools refuse no lease. The time plane decides whether a frame finds a buffer; the memory
/// follows the sizes that it decides. Leases beyond the size are counted, and their memory is not
/// kept.
package final class RunMemory: Sendable {
  /// How a run uses memory. No option changes a result.
  package struct Options: Hashable, Sendable {
    /// Whether the stages are computed in virtual time.
    package var isVirtual = true
    /// Whether memory is filled with 0xA5 before a stage gets it.
    package var isPoisoned = false
    /// Whether programs read the run's frames: the frames are then made in memory that is shared
    /// with programs (`FrameArena`), as long as it has space. The pools do not count these frames.
    package var isShared = false
    /// Whether each frame gets new memory of the heap, to measure the cost of that.
    package var usesHeap = false

    package init(isVirtual: Bool = true, isPoisoned: Bool = false, isShared: Bool = false) {
      (self.isVirtual, self.isPoisoned, self.isShared) = (isVirtual, isPoisoned, isShared)
    }
  }

  /// In the order of the pipeline.
  package let pools: [FramePool]
  /// For nodes without a pool.
  package let shared: FramePool
  private let poolOfNode: [String: Int]
  private let usesHeap: Bool

  /// Frames that wait for the next stage, at most, in `shared`: more than one for each thread.
  private static let sharedIdleMax = 64

  /// - Parameters:
  ///   - pools: The size of each pool, with its ID.
  ///   - poolOfNode: The index of a node's pool; nodes without one are left out.
  package init(
    pools: [(id: String, size: Int)], poolOfNode: [String: Int], _ options: Options = Options()
  ) {
    (self.poolOfNode, usesHeap) = (poolOfNode, options.usesHeap)
    self.pools = pools.map { FramePool(run: $0.id, size: $0.size, options) }
    shared = FramePool(
      run: "run", size: .max, options,
      idle: PoolStore.IdleBounds(
        count: Self.sharedIdleMax, bytes: PixelBudget.ofProcess.waitingBytesMax))
  }

  package func supply(of node: String) -> FrameSupply? {
    if usesHeap { return nil }
    return FrameSupply(poolOfNode[node].map { pools[$0] } ?? shared, stage: node)
  }

  /// The memory of all pools now, leased or not, in bytes.
  package var bytes: Int { pools.reduce(shared.bytes) { $0 + $1.bytes } }
}
