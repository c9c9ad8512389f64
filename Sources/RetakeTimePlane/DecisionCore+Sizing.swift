import RetakeBuffers
import RetakeCore
import RetakeGraph

/// Pools that adapt to the load. Their windows end in the control phase of band 1. A window that
/// would change nothing is not counted, so that an idle pool creates no events.
extension DecisionCore {
  /// Ordinals of a pool's events, above the ordinals of the session's own events.
  private static let windowOrdinal = 1 << 31
  private static let resizedOrdinal = windowOrdinal + 1
  private static let pressureOrdinal = windowOrdinal + 2

  /// Buffers of a pool that adapts to the load; 0 for other pools.
  package func size(ofPool pool: Int) -> Int {
    sizings.pools.isEmpty || sizings.pools[pool] == nil ? 0 : leases.capacity(of: pool)
  }

  /// Buffers of a pool that are in use.
  package func leased(ofPool pool: Int) -> Int { leases.inUse(pool: pool) }

  /// Counts of the pools that adapt to the load.
  package var poolCounts: [PoolCounts] { sizings.pools.compactMap { $0?.counts } }

  // MARK: Input of the controllers

  /// A buffer was leased. If a stage leased it, the stage no longer waits. A frame that waited was
  /// counted as a request when its wait began.
  mutating func noteLease(of pool: Int, at stage: Int? = nil) {
    guard sizings.isInUse, sizings.pools[pool] != nil else { return }
    let inUse = leases.inUse(pool: pool)
    if let stage, sizings.isWaiting[stage] {
      sizings.isWaiting[stage] = false
      sizings.pools[pool]?.controller.leasedAfterStall(inUse: inUse)
    } else {
      sizings.pools[pool]?.controller.leased(inUse: inUse)
      sizings.pools[pool]?.counts.requests += 1
    }
    if let peak = sizings.pools[pool]?.counts.peak, inUse > peak {
      sizings.pools[pool]?.counts.peak = inUse
    }
    startWindow(of: pool)
  }

  mutating func noteStall(of pool: Int) {
    guard sizings.isInUse, sizings.pools[pool] != nil else { return }
    sizings.pools[pool]?.controller.stalled()
    sizings.pools[pool]?.counts.requests += 1
    sizings.pools[pool]?.counts.stalls += 1
    startWindow(of: pool)
  }

  mutating func noteStall(ofPoolOf node: Int) {
    if let pool = plan.nodes[node].pool { noteStall(of: pool) }
  }

  /// Notes the stages that have a server and wait for a buffer. Each frame that waits is one stall.
  mutating func noteWaits(of executor: Int) {
    guard sizings.isInUse else { return }
    for node in plan.executors[executor].nodes
    where !sizings.isWaiting[node] && emptyPool(of: node) != nil && wantsToServe(node) {
      sizings.isWaiting[node] = true
      noteStall(ofPoolOf: node)
    }
  }

  mutating func noteReturn(to pool: Int) {
    guard sizings.isInUse, sizings.pools[pool] != nil else { return }
    sizings.pools[pool]?.controller.returned()
    startWindow(of: pool)
  }

  mutating func noteAllocationFailure(at source: Int) {
    guard hasLeases, sizings.isInUse, let pool = plan.nodes[source].pool,
      sizings.pools[pool] != nil
    else { return }
    sizings.pools[pool]?.controller.allocationFailed()
    startWindow(of: pool)
  }

  // MARK: Windows

  /// Schedules the end of the current window, unless it is scheduled already. Windows follow each
  /// other without gaps from the first use of the pool.
  private mutating func startWindow(of pool: Int) {
    guard let sizing = sizings.pools[pool], !sizing.isTicking else { return }
    let length = sizing.controller.sizing.windowNanoseconds
    let origin = sizing.origin ?? current.time
    sizings.pools[pool]?.origin = origin
    // pool-window: windows that were skipped still count,
    // so ends are at fixed times, whatever the load was.
    let end = origin + ((current.time - origin) / length + 1) * length
    addWindowEnd(of: pool, node: sizing.node, at: end)
  }

  private mutating func addWindowEnd(of pool: Int, node: Int, at time: Int64) {
    sizings.pools[pool]?.isTicking = true
    // pool-window: in the control phase; a lower ordinal
    // than pressure, which comes after it at one instant.
    let key = EventKey(
      time: time, band: .release, phase: .control, node: node, ordinal: Self.windowOrdinal)
    push(Event(key: key, kind: .poolWindow, target: pool))
  }

  mutating func endWindow(pool: Int, _ turn: inout Turn) {
    sizings.pools[pool]?.isTicking = false
    // In a replay, nothing more arrives once no frame is in flight. In a live run, it may.
    guard rules.isLive || tokensAlive > 0, var sizing = sizings.pools[pool] else { return }
    let now = current.time
    let inUse = leases.inUse(pool: pool)
    let step = sizing.controller.endWindow(inUse: inUse, at: now)
    let isAtRest = sizing.controller.isAtRest(inUse: inUse, at: now)
    sizings.pools[pool]?.controller = sizing.controller
    carryOut(step, pool: pool)
    // pool-window: no event for windows that would change
    // nothing; the pool's next use starts them again.
    guard !isAtRest else { return }
    addWindowEnd(
      of: pool, node: sizing.node, at: now + sizing.controller.sizing.windowNanoseconds)
  }

  // MARK: Pressure

  /// An event of the device puts pressure on all pools that adapt to the load, each at its own
  /// node.
  mutating func pressPools(_ pressure: PoolPressure, index: Int) {
    guard !pressure.isEmpty else { return }
    for (pool, sizing) in sizings.pools.enumerated() {
      guard let sizing else { continue }
      // device-policy: each pool at its own node, so all policies decide in the order of nodes.
      let key = releaseKey(node: sizing.node, ordinal: Self.pressureOrdinal + index)
      push(Event(key: key, kind: .poolPressure, target: pool, extra: pressure.rawValue))
    }
  }

  mutating func press(pool: Int, bits: Int, _ turn: inout Turn) {
    guard var sizing = sizings.pools[pool] else { return }
    let now = current.time
    let step =
      PoolPressure(rawValue: bits).contains(.heat)
      ? sizing.controller.becameHot(at: now) : sizing.controller.ranShortOfMemory(at: now)
    sizings.pools[pool]?.controller = sizing.controller
    carryOut(step, pool: pool)
    // pool-pressure: if pool-bounds forbids the change now, the end of a window has to make it.
    startWindow(of: pool)
  }

  // MARK: Sizes

  private mutating func carryOut(_ step: PoolController.Step, pool: Int) {
    guard !step.isEmpty, let node = sizings.pools[pool]?.node else { return }
    let id = plan.pools[pool].id
    if let trip = step.trip {
      // pool-breaker: its line comes before the size that it asks for.
      sizings.pools[pool]?.counts.isBroken = true
      decide(.breaker, node: node, .trip(pool: id, trip))
    }
    guard let resize = step.resize else { return }
    sizings.pools[pool]?.counts.resizes += 1
    sizings.pools[pool]?.counts.size = resize.to
    // pool-resize: decided at once, also if the new buffers take time.
    decide(.resize, node: node, .resize(pool: id, resize))
    let delay = sizings.pools[pool]?.controller.sizing.resizeNanoseconds ?? 0
    // pool-in-force: removed buffers are gone at once. New buffers take time.
    guard resize.to > resize.from, delay > 0 else {
      putInForce(pool: pool, size: resize.to)
      return
    }
    let key = EventKey(
      time: current.time + delay, band: .release, phase: .control, node: node,
      ordinal: Self.resizedOrdinal)
    push(Event(key: key, kind: .poolResized, target: pool, extra: resize.to))
  }

  /// Sets the pool's number of buffers, if that is still the number that the controller wants.
  mutating func putInForce(pool: Int, size: Int) {
    // pool-in-force: a later decision may have replaced a size whose buffers were still being made.
    guard let wanted = sizings.pools[pool]?.controller.size, size == wanted else { return }
    let isMore = size > leases.capacity(of: pool)
    leases.setCapacity(size, of: pool)
    // pool-wake: a new buffer serves a waiting stage like one that came back.
    if isMore { wakeStages(of: pool) }
  }
}
