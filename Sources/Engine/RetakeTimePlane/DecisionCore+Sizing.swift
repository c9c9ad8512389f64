import RetakeBuffers
package import RetakeCore

/// Pools that adapt to the load. Their windows end in the control phase of band 1. A window without
/// effect is not counted, so that an idle pool creates no events.
extension DecisionCore {
  /// Ordinals of a pool's events, above the ordinals of the session's own events.
  private static let resizedOrdinal = 1 << 31
  private static let windowOrdinal = resizedOrdinal + 1
  private static let pressureOrdinal = resizedOrdinal + 2

  /// Buffers of a pool that adapts to the load; 0 for other pools.
  package func size(ofPool pool: Int) -> Int {
    sizings[pool] == nil ? 0 : leases.capacity(of: pool)
  }

  /// Buffers of a pool that are in use.
  package func leased(ofPool pool: Int) -> Int { leases.inUse(pool: pool) }

  /// Requests of a pool that adapts to the load which found no buffer; 0 for other pools.
  package func stalls(ofPool pool: Int) -> Int { sizings[pool]?.stalls ?? 0 }

  /// Counts of the pools that adapt to the load.
  package var poolCounts: [PoolCounts] { sizings.compactMap { $0?.counts } }

  // MARK: Input of the controllers

  mutating func noteLease(of pool: Int, at node: Int) {
    sizings[pool]?.lease(at: node, inUse: leases.inUse(pool: pool))
    startWindow(of: pool)
  }

  mutating func noteStall(of pool: Int) {
    sizings[pool]?.stall()
    startWindow(of: pool)
  }

  /// A frame of a source begins to wait, which is one stall however long it is.
  mutating func noteWait(of pool: Int, at source: Int) {
    if sizings[pool]?.wait(at: source) ?? false { noteStall(of: pool) }
  }

  /// The frame that waited at a source gets no buffer.
  mutating func noteWaitInVain(at source: Int) {
    guard let pool = plan.nodes[source].pool else { return }
    sizings[pool]?.giveUp(at: source)
  }

  /// Notes the stages that have a server and wait for a buffer. Each frame that waits is one stall.
  mutating func noteWaits(of executor: Int) {
    for node in plan.executors[executor].nodes {
      guard let pool = emptyPool(of: node), wantsToServe(node),
        sizings[pool]?.wait(at: node) ?? false
      else { continue }
      noteStall(of: pool)
    }
  }

  mutating func noteReturn(to pool: Int) {
    sizings[pool]?.returned()
    startWindow(of: pool)
  }

  mutating func noteAllocationFailure(at source: Int) {
    guard let pool = plan.nodes[source].pool else { return }
    sizings[pool]?.allocationFailed()
    startWindow(of: pool)
  }

  // MARK: Windows

  /// Schedules the end of the current window, unless it is scheduled already.
  private mutating func startWindow(of pool: Int) {
    guard let end = sizings[pool]?.startWindow(at: current.time) else { return }
    addWindowEnd(of: pool, at: end)
  }

  private mutating func addWindowEnd(of pool: Int, at time: Int64) {
    guard let node = sizings[pool]?.node else { return }
    // pool-window: in the control phase; a lower ordinal
    // than pressure, which comes after it at one instant.
    let key = EventKey(
      time: time, band: .release, phase: .control, node: node, ordinal: Self.windowOrdinal)
    push(Event(key: key, kind: .poolWindow, target: pool))
  }

  mutating func endWindow(pool: Int) {
    // In a replay, no frame arrives once no frame is in flight. In a live run, a frame may still
    // arrive.
    guard rules.isLive || tokensAlive > 0 else {
      sizings[pool]?.stopWindows()
      return
    }
    let inUse = leases.inUse(pool: pool)
    // If windows alone could continue a run, a stuck run would never end.
    let others = sizings.enumerated().count { $0 != pool && $1?.isTicking ?? false }
    let awaitsReturns = rules.isLive || eventCount > others
    guard
      let (step, next) = sizings[pool]?.endWindow(
        inUse: inUse, at: current.time, awaitsReturns: awaitsReturns)
    else { return }
    carryOut(step, pool: pool)
    if let next { addWindowEnd(of: pool, at: next) }
  }

  // MARK: Pressure

  /// An event of the device puts pressure on all pools that adapt to the load, each at its own
  /// node.
  mutating func pressPools(_ pressure: PoolPressure, index: Int) {
    guard !pressure.isEmpty else { return }
    for (pool, sizing) in sizings.enumerated() {
      guard let sizing else { continue }
      // device-policy: each pool at its own node, so all policies decide in the order of nodes.
      let key = releaseKey(node: sizing.node, ordinal: Self.pressureOrdinal + index)
      push(Event(key: key, kind: .poolPressure, target: pool, extra: pressure.rawValue))
    }
  }

  mutating func press(pool: Int, bits: Int) {
    guard let step = sizings[pool]?.press(PoolPressure(rawValue: bits), at: current.time) else {
      return
    }
    carryOut(step, pool: pool)
    // pool-pressure: if pool-bounds forbids the change now, the end of a window has to make it.
    startWindow(of: pool)
  }

  // MARK: Sizes

  private mutating func carryOut(_ step: PoolController.Step, pool: Int) {
    guard !step.isEmpty, let sizing = sizings[pool] else { return }
    let (id, node, delay) = (sizing.id, sizing.node, sizing.resizeNanoseconds)
    if let trip = step.trip {
      // pool-breaker: its line comes before the size that it asks for.
      decide(.breaker, node: node, .trip(pool: id, trip))
    }
    guard let resize = step.resize else { return }
    // pool-resize: decided at once, even if new buffers are available later.
    decide(.resize, node: node, .resize(pool: id, resize))
    // pool-in-force: removed buffers are gone at once. New buffers are available after the resize
    // time.
    guard resize.to > resize.from, delay > 0 else {
      putInForce(pool: pool, size: resize.to)
      return
    }
    // Before a window that ends at the same instant: with a `resizeTime` of a second its decision
    // would replace this size, and a pool that grows every second would never have the buffers.
    let key = EventKey(
      time: current.time + delay, band: .release, phase: .control, node: node,
      ordinal: Self.resizedOrdinal)
    push(Event(key: key, kind: .poolResized, target: pool, extra: resize.to))
  }

  /// Sets the pool's number of buffers, if that is still the number that the controller wants.
  mutating func putInForce(pool: Int, size: Int) {
    // pool-in-force: a later decision may have replaced a size whose buffers were still being made.
    guard size == sizings[pool]?.size else { return }
    let isMore = size > leases.capacity(of: pool)
    leases.setCapacity(size, of: pool)
    // pool-wake: a new buffer serves a waiting stage like a returned buffer.
    if isMore { wakeStages(of: pool) }
  }
}
