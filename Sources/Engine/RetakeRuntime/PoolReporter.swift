import RetakeTimePlane

/// Reports to an observer how many buffers of each pool are leased, and how many buffers and stalls
/// an adaptive pool has, when these numbers change.
struct PoolReporter {
  private let pools: [String]
  /// The numbers that were reported last, by pool.
  private var leases: [Int]
  private var sizes: [Int]
  private var stalls: [Int]

  init(_ plan: GraphPlan) {
    pools = plan.pools.map(\.id)
    leases = pools.map { _ in 0 }
    (sizes, stalls) = (leases, leases)
  }

  /// - Parameter time: The time of the event that was handled last.
  /// - Returns: Whether the size of a pool changed.
  @discardableResult
  mutating func tell(
    _ observer: any RunObserver, of core: borrowing DecisionCore, at time: Int64
  ) -> Bool {
    for pool in pools.indices where core.leased(ofPool: pool) != leases[pool] {
      leases[pool] = core.leased(ofPool: pool)
      observer.leased(leases[pool], of: pools[pool], at: time)
    }
    for pool in pools.indices where core.stalls(ofPool: pool) != stalls[pool] {
      stalls[pool] = core.stalls(ofPool: pool)
      observer.stalled(stalls[pool], of: pools[pool], at: time)
    }
    var isResized = false
    for pool in pools.indices where core.size(ofPool: pool) != sizes[pool] {
      isResized = true
      sizes[pool] = core.size(ofPool: pool)
      observer.resized(sizes[pool], of: pools[pool], at: time)
    }
    return isResized
  }
}
