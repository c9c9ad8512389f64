import RetakeCore
import RetakeGraph

/// Buffers are counted only if the pipeline has pools and the pools are bounded.
extension DecisionCore {
  var hasLeases: Bool { rules.isBounded && !plan.pools.isEmpty }

  /// Whether a sink holds the buffers of a received value until it reports the release.
  package var holdsAtSinks: Bool { rules.isLive && hasLeases }

  /// The node's pool if it has no free buffer.
  func emptyPool(of node: Int) -> Int? {
    guard hasLeases, let pool = plan.nodes[node].pool, leases.isEmpty(pool: pool) else {
      return nil
    }
    return pool
  }

  /// A frame ends at a node whose pool does not block.
  mutating func endForWantOfBuffer(
    pool: Int, node: Int, _ work: Work, _ turn: inout EventContext
  ) {
    noteStall(of: pool)
    switch plan.pools[pool].policy {
    case .block: preconditionFailure("a stage that waits for a buffer is not ready")
    case .drop:
      // pool-empty, source-pool, drop-reasons: `pool`.
      decide(.drop, node: node, work, .reason(DropReason.pool.rawValue))
      bury(work, fate: .dropped(.pool), node: node)
    case .fail:
      // pool-empty: no body has run, so no slot waits for this frame, and no fallback replaces it.
      decide(work.isItem ? .itemFail : .fail, node: node, work, .code(Self.emptyPoolCode))
      let error = StageError(
        code: Self.emptyPoolCode, message: "the pool '\(plan.pools[pool].id)' has no free buffer")
      turn.actions.append(.report(node: node, work: work, error))
      bury(work, fate: .failed(code: Self.emptyPoolCode), node: node)
    }
  }

  static var emptyPoolCode: String { "pool.empty" }

  // MARK: Outputs

  mutating func leaseAtSource(_ source: Int, _ work: Work) {
    guard hasLeases, let pool = plan.nodes[source].pool else { return }
    // pool-lease: one buffer for each captured frame, however many edges it is offered to.
    hold([leases.lease(pool: pool, slot: work.slotIndex)], as: source, work)
    noteLease(of: pool, at: source)
  }

  /// The service of a body holds the buffer that the body writes to.
  mutating func leaseForBody(of node: Int, _ work: Work) {
    guard hasLeases, let pool = plan.nodes[node].pool else { return }
    // pool-lease: kept under a key of the body's own until the output exists.
    hold([leases.lease(pool: pool, slot: work.slotIndex)], as: bodyOf(node), work)
    noteLease(of: pool, at: node)
  }

  /// A body's output uses the body's own buffer, and also its input's buffer if it keeps that.
  mutating func publishOutput(of node: Int, _ work: Work, _ turn: EventContext) {
    guard hasLeases, let edge = plan.nodes[node].inEdge else { return }
    var found = leases.output(of: bodyOf(node), work)
    if turn.gates.keepsInput(node: node, slot: work.slotIndex) {
      // pool-lease: the output refers to the memory of its input.
      found += leases.output(of: plan.edges[edge].from, work)
    }
    hold(found, as: node, work)
  }

  mutating func releaseBody(of node: Int, _ work: Work) {
    guard hasLeases else { return }
    returnBuffers(leases.release(leases.output(of: bodyOf(node), work)))
    leases.setOutput([], of: bodyOf(node), work)
  }

  /// The outputs whose buffers came back since the last call. A driver that holds values releases
  /// them, so that their memory comes back with the buffers.
  package mutating func takeEndedOutputs() -> [EndedOutput] {
    // The key of a body has no value.
    leases.takeEnded().filter { $0.node < plan.nodes.count }
  }

  /// The key of the buffer that a node's body works in.
  private func bodyOf(_ node: Int) -> Int { node + plan.nodes.count }

  /// Notes that a node's output uses these buffers, and that the node holds them.
  private mutating func hold(_ found: [Int], as node: Int, _ work: Work) {
    leases.setOutput(found, of: node, work)
    leases.retain(found)
  }

  /// The output of a node without a server uses the buffers of its input.
  mutating func passLeases(
    of work: Work, through node: Int, from edge: Int, as output: Work? = nil
  ) {
    guard hasLeases else { return }
    let found = leases.output(of: plan.edges[edge].from, work)
    // pool-lease: passed on without a hold of the node: the offers that follow hold the buffers.
    leases.setOutput(found, of: node, output ?? work)
  }

  /// Adds a part or item to the output that a node collects. The node holds its buffers.
  mutating func gatherLeases(
    of work: Work, at node: Int, from edge: Int, as output: Work? = nil
  ) {
    guard hasLeases else { return }
    let whole = output ?? Work(slot: work.slotIndex)
    let found = leases.output(of: plan.edges[edge].from, work)
    leases.setOutput(leases.output(of: node, whole) + found, of: node, whole)
    leases.retain(found)
  }

  /// A fallback's output uses the buffers of the value that it repeats.
  mutating func shareLeases(of node: Int, from: Work, to work: Work) {
    guard hasLeases else { return }
    hold(leases.output(of: node, from), as: node, work)
  }

  mutating func retainOutput(of node: Int, _ work: Work) {
    guard hasLeases else { return }
    leases.retain(leases.output(of: node, work))
  }

  /// The node itself no longer holds its output.
  mutating func releaseOutput(of node: Int, _ work: Work) {
    guard hasLeases else { return }
    returnBuffers(leases.release(leases.output(of: node, work)))
  }

  // MARK: Edges

  /// A value that is offered along an edge, or waits there, holds its buffers.
  mutating func retainValue(on edge: Int, _ work: Work) {
    // pool-holders: one hold for each edge, so the slowest path decides when the buffer is free.
    retainOutput(of: plan.edges[edge].from, work)
  }

  mutating func releaseValue(on edge: Int, _ work: Work) {
    releaseOutput(of: plan.edges[edge].from, work)
  }

  /// Stages that wait for a buffer may be ready now.
  private mutating func returnBuffers(_ pools: [Int]) {
    for pool in pools {
      noteReturn(to: pool)
      // pool-wake: a stage that waits for a buffer has no other event that would wake it.
      wakeStages(of: pool)
    }
  }

  mutating func wakeStages(of pool: Int) {
    for node in plan.nodes.indices where plan.nodes[node].pool == pool {
      requestDispatch(of: node)
      // source-wait: asked for in the arrivals band, so the stages are served first.
      requestAsk(of: node)
    }
  }
}
