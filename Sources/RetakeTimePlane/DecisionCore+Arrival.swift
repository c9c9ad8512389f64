import RetakeCore
import RetakeGraph

extension DecisionCore {
  /// A frame reaches its source. If a block edge is full, or if there is no buffer, the frame is
  /// lost for all paths. Frames that were admitted at this instant and have not reached the queue
  /// yet count as waiting in it.
  mutating func arrive(source: Int, slot: Int, _ turn: inout Turn) {
    let work = Work(slot: slot)
    if let reason = lossReason(source) {
      // source-lost, source-no-buffer: decided before capture, so the frame is in no sink's ledger.
      decide(.lost, node: source, work, .reason(reason))
      if reason == DropReason.pool.rawValue, let pool = plan.nodes[source].pool {
        noteStall(of: pool)
      }
      forgetLost(slot, &turn)
      return
    }
    // swap-epoch: for its whole life the frame keeps the stages that are in force now.
    slots.setEpoch(epoch, of: slot)
    turn.actions.append(.captured(slot: slot))
    // source-damaged: asked before the pool, because a frame without pixels takes no buffer.
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

  private func lossReason(_ source: Int) -> String? {
    // source-lost: a camera cannot wait. One full block edge loses the frame for all paths.
    if plan.nodes[source].outEdges.contains(where: { queues[$0].losesArrivals }) { return "queue" }
    // source-no-buffer: asked second; without room and without buffer the reason is `queue`.
    guard let pool = emptyPool(of: source), plan.pools[pool].policy == .block else { return nil }
    return DropReason.pool.rawValue
  }

  private mutating func failAtSource(
    _ source: Int, _ work: Work, code: String, _ turn: inout Turn
  ) {
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
