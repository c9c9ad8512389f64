import RetakeCore
import RetakeGraph

extension DecisionCore {
  /// A frame reaches its source. If a block edge is full, or if there is no buffer, the frame is
  /// lost for all paths. Frames that were admitted at this instant and have not reached the queue
  /// yet count as waiting in it.
  mutating func arrive(source: Int, slot: Int, _ turn: inout Turn) {
    let work = Work(slot: slot)
    if let reason = lossReason(source) {
      decide(.lost, node: source, work, .reason(reason))
      if reason == DropReason.pool.rawValue { noteStall(ofPoolOf: source) }
      forgetLost(slot, &turn)
      return
    }
    slots[slot].epoch = epoch
    turn.actions.append(.captured(slot: slot))
    if let code = turn.gates.damage(slot: slot) {
      failAtSource(source, work, code: code, &turn)
    } else if let pool = emptyPool(of: source) {
      endForWantOfBuffer(pool: pool, node: source, work, &turn)
    } else {
      leaseAtSource(source, work)
      for edge in plan.nodes[source].outEdges { offer(edge: edge, work) }
      releaseOutput(of: source, work, &turn)
    }
    endToken(slot, &turn)
  }

  private func lossReason(_ source: Int) -> String? {
    if plan.nodes[source].outEdges.contains(where: { isSourceEdgeFull($0) }) { return "queue" }
    guard let pool = emptyPool(of: source), plan.pools[pool].policy == .block else { return nil }
    return DropReason.pool.rawValue
  }

  private func isSourceEdgeFull(_ edge: Int) -> Bool {
    guard queues[edge].policy == .block else { return false }
    return queues[edge].count >= queues[edge].capacity - offersInTransit[edge]
  }

  private mutating func failAtSource(
    _ source: Int, _ work: Work, code: String, _ turn: inout Turn
  ) {
    decide(.fail, node: source, work, .code(code))
    if code == LiveCode.allocationFailed { noteAllocationFailure(at: source) }
    let message =
      code == LiveCode.allocationFailed
      ? "there was no memory for the frame" : "the frame is damaged or missing in the session"
    turn.actions.append(
      .report(node: source, work: work, StageError(code: code, message: message)))
    bury(work, fate: .failed(code: code), node: source)
  }
}
