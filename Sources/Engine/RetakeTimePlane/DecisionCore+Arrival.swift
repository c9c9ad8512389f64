package import RetakeCore
import RetakeGraph

extension DecisionCore {
  /// A frame reaches its source. If a block edge is full, or if there is no buffer, the frame is
  /// lost for all paths, or waits for a buffer. Frames that were admitted at this instant and have
  /// not reached the queue yet count as waiting in it.
  mutating func arrive(source: Int, slot: Int, _ turn: inout EventContext) {
    guard captures[source].isWaiting else {
      return admit(slot, at: source, hasWaited: false, &turn)
    }
    // source-behind: the capture thread is blocked, so the driver keeps the frame or loses it.
    if captures[source].keep(slot) {
      return decide(.wait, node: source, Work(slot: slot), .reason(Self.turnReason))
    }
    if let pool = plan.nodes[source].pool { noteStall(of: pool) }
    captures[source].noteLost()
    lose(slot, at: source, reason: Self.waitReason, &turn)
  }

  /// The frame is captured, lost, or begins to wait for a buffer.
  private mutating func admit(
    _ slot: Int, at source: Int, hasWaited: Bool, _ turn: inout EventContext
  ) {
    // source-lost: checked first; if both the queue and the pool are full, the reason is `queue`.
    // One full block edge loses the frame for all paths.
    if plan.nodes[source].outEdges.contains(where: { queues[$0].losesArrivals }) {
      return lose(slot, at: source, reason: DropReason.queue.rawValue, &turn)
    }
    if let pool = blockingPool(of: source) {
      if let limit = plan.pools[pool].wait {
        return wait(with: slot, at: source, pool: pool, limit: limit.nanoseconds)
      }
      // source-no-buffer: without a limit for the wait, a camera does not wait at all.
      noteStall(of: pool)
      return lose(slot, at: source, reason: DropReason.pool.rawValue, &turn)
    }
    if hasWaited { decideWaited(slot, at: source) }
    capture(slot, at: source, &turn)
  }

  /// The source's pool, if it has no buffer for a frame that comes now, and its sources lose or
  /// keep the frame.
  private func blockingPool(of source: Int) -> Int? {
    guard hasLeases, let pool = plan.nodes[source].pool, plan.pools[pool].policy == .block else {
      return nil
    }
    // source-longest: the free buffers are for the sources that already wait.
    let waiting = plan.sources.count(where: { waits($0, for: pool) })
    return leases.free(pool: pool) <= waiting ? pool : nil
  }

  private mutating func lose(
    _ slot: Int, at source: Int, reason: String, _ turn: inout EventContext
  ) {
    // source-lost, source-no-buffer: decided before capture, so the frame is in no sink's ledger.
    decide(.lost, node: source, Work(slot: slot), .reason(reason))
    forgetLost(slot, &turn)
  }

  private mutating func capture(_ slot: Int, at source: Int, _ turn: inout EventContext) {
    let work = Work(slot: slot)
    // swap-epoch: until its end, the frame keeps the stages that are in force now.
    slots.setEpoch(epoch, of: slot)
    turn.actions.append(.captured(slot: slot))
    // source-damaged: checked before the pool, because a frame without pixels needs no buffer.
    if let code = turn.gates.damage(slot: slot) {
      failAtSource(source, work, code: code, &turn)
    } else if let pool = emptyPool(of: source) {
      // source-pool: the policy is `drop` or `fail`; with `block` the frame was lost above.
      endForWantOfBuffer(pool: pool, node: source, work, &turn)
    } else {
      // source-offer, pool-lease: the offers hold the buffer, so the source can release it.
      leaseAtSource(source, work)
      for edge in plan.nodes[source].outEdges { offer(edge: edge, work) }
      releaseOutput(of: source, work)
    }
    endToken(slot, &turn)
  }

  private mutating func failAtSource(
    _ source: Int, _ work: Work, code: String, _ turn: inout EventContext
  ) {
    noteWaitInVain(at: source)
    decide(.fail, node: source, work, .code(code))
    if code == FailureCode.allocationFailed { noteAllocationFailure(at: source) }
    let message =
      code == FailureCode.allocationFailed
      ? "there was no memory for the frame" : "the frame is damaged or missing in the session"
    turn.actions.append(
      .report(node: source, work: work, StageError(code: code, message: message)))
    bury(work, fate: .failed(code: code), node: source)
  }
}

// MARK: - Waiting

/// A source whose pool has a limit for the wait: its capture thread is blocked until a buffer comes
/// back or the limit is reached.
extension DecisionCore {
  /// The frame waits until the frame before it has a buffer or is lost.
  private static var turnReason: String { "turn" }
  /// The frame came while the capture thread was blocked.
  private static var waitReason: String { "wait" }
  /// After an `ask` of the same instant, so that a buffer that comes back at the limit is in time.
  private static var limitOrdinal: Int { 1 }

  /// The slots of the frames that have arrived and are neither captured nor lost.
  package var waitingFrames: [Int] { captures.flatMap(\.frames) }

  /// Counts of the sources where a frame has waited for a buffer, in the order of the nodes.
  package var waitCounts: [WaitCounts] {
    captures.map(\.counts).filter { $0.waited > 0 || $0.lost > 0 }
  }

  private mutating func wait(with slot: Int, at source: Int, pool: Int, limit: Int64) {
    let work = Work(slot: slot)
    captures[source].wait(with: slot, since: current.time)
    decide(.wait, node: source, work, .reason(DropReason.pool.rawValue))
    noteWait(of: pool, at: source)
    let id = slots[slot].id
    // source-wait: in the arrivals band, after everything that ends at that instant, and before a
    // frame that arrives then.
    let key = EventKey(
      time: current.time + limit, band: .arrivals, phase: .arrival, node: source,
      track: id.track, sequence: id.sequence, ordinal: Self.limitOrdinal)
    push(
      Event(
        key: key, kind: .captureLimit, target: source, work: work,
        extra: Int(slots[slot].generation)))
  }

  /// A buffer may be free now: the frame that waits at a source asks again, once per microstep.
  mutating func requestAsk(of source: Int) {
    guard captures[source].requestAsk(), let slot = captures[source].inHand else { return }
    let id = slots[slot].id
    let isEarlier = current.band.rawValue < EventBand.arrivals.rawValue
    // source-wait: like an arrival, after all that frees a buffer or needs one in the release band.
    let key =
      isEarlier
      ? EventKey(
        time: current.time, band: .arrivals, phase: .arrival, node: source, track: id.track,
        sequence: id.sequence)
      : EventKey.following(
        current, phase: .arrival, node: source, track: id.track, sequence: id.sequence)
    push(Event(key: key, kind: .captureAsk, target: source, work: Work(slot: slot)))
  }

  /// The first question of an instant is answered for all sources of the pool.
  mutating func askAgain(source: Int, _ turn: inout EventContext) {
    captures[source].beginAsk()
    guard let pool = plan.nodes[source].pool else { return }
    // Bounded: each turn captures a frame that has arrived.
    while leases.free(pool: pool) > 0, let longest = longestWaiting(of: pool) {
      guard let slot = captures[longest].inHand else { return }
      captures[longest].endWait()
      decideWaited(slot, at: longest)
      capture(slot, at: longest, &turn)
      admitNext(at: longest, &turn)
    }
  }

  /// Whether a source waits for a buffer of a pool.
  private func waits(_ source: Int, for pool: Int) -> Bool {
    captures[source].isWaiting && plan.nodes[source].pool == pool
  }

  /// source-longest: the source whose wait began first; of several, the first node.
  private func longestWaiting(of pool: Int) -> Int? {
    plan.sources.filter { waits($0, for: pool) }.min {
      (captures[$0].waitsSince, $0) < (captures[$1].waitsSince, $1)
    }
  }

  mutating func endWait(
    source: Int, _ work: Work, generation: Int32, _ turn: inout EventContext
  ) {
    // The slot may have been reused since, and may even wait here again.
    guard captures[source].inHand == work.slotIndex,
      slots[work.slotIndex].generation == generation
    else { return }
    captures[source].endWait()
    captures[source].noteLost()
    noteWaitInVain(at: source)
    lose(work.slotIndex, at: source, reason: DropReason.pool.rawValue, &turn)
    admitNext(at: source, &turn)
  }

  /// The capture thread continues with the frames that the driver kept.
  private mutating func admitNext(at source: Int, _ turn: inout EventContext) {
    // Bounded: by the frames that the driver keeps, and the loop adds no frames.
    while let slot = captures[source].next() {
      admit(slot, at: source, hasWaited: true, &turn)
    }
  }

  private mutating func decideWaited(_ slot: Int, at source: Int) {
    let nanoseconds = current.time - slots[slot].arrival
    captures[source].noteWaited(nanoseconds: nanoseconds)
    decide(.waited, node: source, Work(slot: slot), .waited(nanoseconds))
  }
}
