import RetakeBuffers
import RetakeCore
import RetakeGraph

/// The pressure that the device puts on adaptive pools.
package struct PoolPressure: OptionSet, Sendable {
  package let rawValue: Int

  package init(rawValue: Int) { self.rawValue = rawValue }

  /// The device is hot: the thermal state is serious or worse.
  package static let heat = PoolPressure(rawValue: 1)
  /// Memory is short: the memory pressure is a warning or worse.
  package static let memory = PoolPressure(rawValue: 2)

  package init(_ event: DeviceEvent) {
    switch event {
    case .thermal(let state): self = state >= .serious ? .heat : []
    case .memory(let pressure): self = pressure >= .warning ? .memory : []
    case .battery, .orientation: self = []
    }
  }
}

/// The pools that adapt to the load, and when their windows end.
struct SizingBook: Sendable {
  struct Sizing: Sendable {
    var controller: PoolController
    /// The first node that leases from the pool. Decision lines about the pool name this node.
    var node: Int
    /// When the first window began.
    var origin: Int64?
    /// Whether the end of the current window is scheduled.
    var isTicking = false
    var counts: PoolCounts
  }

  /// `nil` for pools of a fixed size.
  var pools: [Sizing?] = []
  /// Stages whose next frame waits for a buffer. One wait is one stall, however long it is.
  var isWaiting: [Bool] = []
  /// Whether any pool adapts to the load.
  let isInUse: Bool

  /// - Parameter plan: `nil` if pools are unbounded.
  init(plan: GraphPlan?) {
    guard let plan else {
      isInUse = false
      return
    }
    pools = plan.pools.indices.map { index in
      let pool = plan.pools[index]
      guard let sizing = pool.adaptive,
        let node = plan.nodes.indices.first(where: { plan.nodes[$0].pool == index })
      else { return nil }
      let controller = PoolController(sizing, size: pool.capacity)
      return Sizing(
        controller: controller, node: node,
        counts: PoolCounts(pool: pool.id, size: controller.size))
    }
    isInUse = pools.contains { $0 != nil }
    isWaiting = plan.nodes.map { _ in false }
  }
}
