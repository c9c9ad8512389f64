import RetakeCore

extension DecisionCore {
  /// A join takes the waiting part with the lowest sequence and port, until one of its outputs
  /// waits to be accepted. Joined frames leave in order.
  mutating func runJoin(_ node: Int, _ turn: inout EventContext) {
    // Bounded: each turn lets a frame leave or removes a part from a finite queue.
    while !offers[node].isHeld {
      if let slot = joins[node]?.nextToLeave() {
        // join-leave: a frame that may leave does so before another part is taken.
        leaveJoined(node, slot: slot, &turn)
      } else if let (edge, place) = nextPart(of: node), let entry = take(from: edge, at: place) {
        // join-take: one part at a time, because each part can let a frame leave, which ends this
        // loop.
        takePart(entry.work, on: edge, at: node, &turn)
      } else {
        return
      }
    }
  }

  private func nextPart(of node: Int) -> (edge: Int, place: Int)? {
    var best: (sequence: Int, edge: Int, place: Int)?
    for edge in plan.nodes[node].inEdges {
      // join-take: any place in the queue, because a
      // part of lower sequence may have been overtaken.
      for place in 0..<queues[edge].count {
        let sequence = slots[queues[edge][place].work.slotIndex].id.sequence
        // join-take: of equal sequences the first part stays, and edges are in the order of their
        // ports.
        if best.map({ sequence < $0.sequence }) ?? true { best = (sequence, edge, place) }
      }
    }
    return best.map { ($0.edge, $0.place) }
  }

  private mutating func takePart(
    _ work: Work, on edge: Int, at node: Int, _ turn: inout EventContext
  ) {
    let slot = work.slotIndex
    let verdict = joins[node]?.add(
      slot: slot, sequence: slots[slot].id.sequence, port: plan.edges[edge].toPort)
    switch verdict {
    case .late:
      // join-late: the frame was decided without this part, which only releases its buffers and its
      // token.
      decide(.late, node: node, work)
      releaseValue(on: edge, work)
      endToken(slot, &turn)
      return
    case .first: startTimer(of: node, work)
    case .taken, nil: break
    }
    if let verdict = joins[node]?.decide(slot: slot) { carryOut(verdict, node, slot: slot, &turn) }
  }

  private mutating func startTimer(of node: Int, _ work: Work) {
    guard rules.isBounded, let timeout = plan.nodes[node].timeoutNanoseconds else { return }
    // join-timer: control comes before delivery, so a
    // part that comes at the timeout's instant is late.
    push(
      .joinTimeout, phase: .control, node: node, work: work, at: current.time + timeout,
      extra: Int(slots[work.slotIndex].generation))
  }

  mutating func timeOut(join node: Int, _ work: Work, generation: Int32, _ turn: inout EventContext)
  {
    let slot = work.slotIndex
    guard slots[slot].generation == generation, let verdict = joins[node]?.timeOut(slot: slot)
    else { return }
    // join-timer: a frame that is decided has no verdict
    // above, so `timeout` always comes with a decision.
    decide(.timeout, node: node, work)
    carryOut(verdict, node, slot: slot, &turn)
    runJoin(node, &turn)
  }

  /// A tombstone arrived at one of a join's ports.
  mutating func endPart(
    join node: Int, slot: Int, _ tombstone: Tombstone, _ turn: inout EventContext
  ) {
    var isFailure = false
    if case .failed = endings[tombstone.ending].fate { isFailure = true }
    let matters =
      joins[node]?.end(
        slot: slot, sequence: slots[slot].id.sequence, port: tombstone.port,
        ending: tombstone.ending, isFailure: isFailure) ?? false
    // A tombstone after the decision has no effect and, unlike a value (join-late), writes no line.
    guard matters else { return }
    // The join keeps the ending until the frame is decided;
    // the tombstone releases only its own reference.
    endings.retain(tombstone.ending)
    if let verdict = joins[node]?.decide(slot: slot) { carryOut(verdict, node, slot: slot, &turn) }
    runJoin(node, &turn)
  }

  private mutating func carryOut(
    _ verdict: JoinVerdict, _ node: Int, slot: Int, _ turn: inout EventContext
  ) {
    let work = Work(slot: slot)
    let held = joins[node]?.holdings(of: slot) ?? (endings: [], ports: 0)
    switch verdict {
    case .joined(let ports):
      // join-decide: the frame continues, and leaves at its turn (join-leave).
      decide(.join, node: node, work, .parts(ports.nonzeroBitCount))
      turn.actions.append(.join(node: node, slot: slot, ports: ports))
    case .passesOn(let ending):
      // join-decide: no line, because the frame's end was written where it ended.
      for edge in plan.nodes[node].outEdges { sendTombstone(along: edge, work, ending: ending) }
    case .timedOut: drop(work, at: node, .timeout)
    case .partnerMissing: drop(work, at: node, .partnerMissing)
    }
    for ending in held.endings { endings.release(ending) }
    // join-leave: an ending does not wait for frames of
    // lower sequence, so its parts are released now.
    if case .joined = verdict { return }
    joins[node]?.forget(slot: slot)
    letGo(ofParts: held.ports, at: node, slot: slot, &turn)
  }

  private mutating func drop(_ work: Work, at node: Int, _ reason: DropReason) {
    // drop-reasons: `timeout` or `partnerMissing`.
    decide(.drop, node: node, work, .reason(reason.rawValue))
    bury(work, fate: .dropped(reason), node: node)
  }

  private mutating func leaveJoined(_ node: Int, slot: Int, _ turn: inout EventContext) {
    let work = Work(slot: slot)
    let ports = joins[node]?.holdings(of: slot).ports ?? 0
    joins[node]?.forget(slot: slot)
    // pool-lease: the joined frame uses the buffers of all its parts.
    for edge in edges(of: node, ports: ports) {
      gatherLeases(of: work, at: node, from: edge)
    }
    offerOutput(of: node, work)
    releaseOutput(of: node, work)
    letGo(ofParts: ports, at: node, slot: slot, &turn)
  }

  private mutating func letGo(
    ofParts ports: UInt32, at node: Int, slot: Int, _ turn: inout EventContext
  ) {
    let edges = edges(of: node, ports: ports)
    for edge in edges { releaseValue(on: edge, Work(slot: slot)) }
    for _ in edges { endToken(slot, &turn) }
  }

  private func edges(of node: Int, ports: UInt32) -> [Int] {
    plan.nodes[node].inEdges.filter { ports & 1 << UInt32(plan.edges[$0].toPort) != 0 }
  }
}
