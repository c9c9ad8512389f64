import RetakeBuffers
import RetakeCore

/// One pool that adapts to the load: its controller, its counts, and when its windows end.
struct SizingStateMachine: Sendable {
  let id: String
  /// The first node that leases from the pool. Decision lines about the pool name this node.
  let node: Int
  private var controller: PoolController
  /// When the first window began.
  private var origin: Int64?
  /// Whether the end of the current window is scheduled.
  private(set) var isTicking = false
  /// Stages and sources whose next frame waits for a buffer. One wait is one stall, however long it
  /// is.
  private var waitingNodes: [Int] = []
  private var peak = 0
  private var requests = 0
  private(set) var stalls = 0
  private var completed = 0

  /// `nil` for a pool of a fixed size.
  init?(pool index: Int, of plan: GraphPlan) {
    guard let sizing = plan.pools[index].adaptive,
      let node = plan.nodes.indices.first(where: { plan.nodes[$0].pool == index })
    else { return nil }
    id = plan.pools[index].id
    self.node = node
    controller = PoolController(sizing, size: plan.pools[index].capacity)
  }

  /// The size that the controller wants, which may not be in force yet.
  var size: Int { controller.size }
  var resizeNanoseconds: Int64 { controller.sizing.resizeNanoseconds }

  var counts: PoolCounts {
    var counts = PoolCounts(pool: id, size: size)
    (counts.peak, counts.requests, counts.stalls) = (peak, requests, stalls)
    counts.completed = completed
    (counts.resizes, counts.isBroken) = (controller.resizes, controller.isTripped)
    return counts
  }

  // MARK: Input of the controller

  /// A buffer was leased, so the node no longer waits. A frame that waited was counted as a request
  /// when its wait began.
  mutating func lease(at node: Int, inUse: Int) {
    peak = max(peak, inUse)
    if let place = waitingNodes.firstIndex(of: node) {
      waitingNodes.remove(at: place)
      controller.leasedAfterStall(inUse: inUse)
    } else {
      requests += 1
      controller.leased(inUse: inUse)
    }
  }

  mutating func stall() {
    requests += 1
    stalls += 1
    controller.stalled()
  }

  /// A stage or source waits for a buffer.
  ///
  /// - Returns: Whether it did not wait before.
  mutating func wait(at node: Int) -> Bool {
    guard !waitingNodes.contains(node) else { return false }
    waitingNodes.append(node)
    return true
  }

  /// A source stops waiting without a buffer.
  mutating func giveUp(at source: Int) { waitingNodes.removeAll { $0 == source } }

  mutating func returned() {
    completed += 1
    controller.returned()
  }

  mutating func allocationFailed() { controller.allocationFailed() }

  // MARK: Windows

  /// Windows follow each other without gaps from the first use of the pool.
  ///
  /// - Returns: The end of the current window, unless it is scheduled already.
  mutating func startWindow(at now: Int64) -> Int64? {
    guard !isTicking else { return nil }
    isTicking = true
    let length = controller.sizing.windowNanoseconds
    let origin = origin ?? now
    self.origin = origin
    // pool-window: windows that were skipped still count,
    // so ends are at fixed times, whatever the load was.
    return origin + ((now - origin) / length + 1) * length
  }

  /// - Parameter awaitsReturns: Whether a buffer that is held may come back.
  /// - Returns: Also the end of the next window, which has to be scheduled.
  mutating func endWindow(
    inUse: Int, at now: Int64, awaitsReturns: Bool
  ) -> (step: PoolController.Step, next: Int64?) {
    let step = controller.endWindow(inUse: inUse, at: now)
    // pool-window: no event for windows without effect; the pool's next use starts them again.
    isTicking = !controller.isAtRest(
      inUse: inUse, at: now, awaitsReturns: awaitsReturns)
    return (step, isTicking ? now + controller.sizing.windowNanoseconds : nil)
  }

  /// The window that ends has no effect.
  mutating func stopWindows() { isTicking = false }

  // MARK: Pressure

  mutating func press(_ pressure: PoolPressure, at now: Int64) -> PoolController.Step {
    pressure.contains(.heat)
      ? controller.becameHot(at: now) : controller.ranShortOfMemory(at: now)
  }
}
