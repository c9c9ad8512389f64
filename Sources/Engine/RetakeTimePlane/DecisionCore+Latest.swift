import RetakeCore

extension DecisionCore {
  /// The number of values that a port keeps before values without a possible reader are removed.
  private static var pruneLength: Int { 64 }

  /// A latest join keeps the values that arrive at its other ports. It takes a frame of its first
  /// port after its out edges have settled the previous frame.
  mutating func runLatest(_ node: Int, _ turn: inout EventContext) {
    let edges = plan.nodes[node].inEdges
    // latest-trigger: the other ports only store values, so they never wait for the first one.
    for port in edges.indices.dropFirst() {
      // Bounded: each turn removes a value from a finite queue.
      while let entry = take(from: edges[port]) {
        let slot = entry.work.slotIndex
        if latests[node][port].add(value(of: slot)) {
          slots.retain(slot)
        } else {
          // latest-forward: no frame will read this value, so it holds no buffers here.
          releaseValue(on: edges[port], entry.work)
        }
        endToken(slot, &turn)
      }
      if latests[node][port].count > Self.pruneLength { prune(node, port: port, &turn) }
    }
    // latest-trigger: one frame at a time, which keeps them in order.
    guard !offers[node].isHeld, let entry = take(from: edges[0]) else { return }
    offers[node].reserve()
    let id = slots[entry.work.slotIndex].id
    // order-latest: all other events of this instant come first, so their values can be read.
    // Downstream of another latest join this band has begun already.
    let key =
      current.band.rawValue < EventBand.latestJoins.rawValue
      ? EventKey(
        time: current.time, band: .latestJoins, phase: .delivery, node: node, track: id.track,
        sequence: id.sequence)
      : EventKey.following(
        current, phase: .delivery, node: node, track: id.track, sequence: id.sequence)
    push(Event(key: key, kind: .latest, target: node, work: entry.work))
  }

  mutating func readLatest(node: Int, _ work: Work, _ turn: inout EventContext) {
    let slot = work.slotIndex
    let edges = plan.nodes[node].inEdges
    let names = plan.nodes[node].stage.inputPorts
    var found: [LatestStateMachine.Value?] = []
    gatherLeases(of: work, at: node, from: edges[0])
    for port in edges.indices.dropFirst() {
      // latest-read: at each port on its own; a port may have no value yet.
      let (newest, released) = latests[node][port].read(by: value(of: slot))
      found.append(newest)
      if let newest {
        gatherLeases(of: Work(slot: newest.slot), at: node, from: edges[port], as: work)
      }
      letGo(of: released, on: edges[port], &turn)
    }
    let ports = found.enumerated().map { index, value in
      Decision.Port(name: names[index + 1], frame: value?.id)
    }
    decide(
      .latest, node: node, work,
      .ports(ports.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }))
    turn.actions.append(.latest(node: node, slot: slot, from: found.map { $0?.slot ?? -1 }))
    offerOutput(of: node, work)
    releaseOutput(of: node, work)
    releaseValue(on: edges[0], work)
    endToken(slot, &turn)
  }

  private func value(of slot: Int) -> LatestStateMachine.Value {
    LatestStateMachine.Value(slot: slot, id: slots[slot].id, arrival: slots[slot].arrival)
  }

  /// Releases the values that no frame in flight or still to come can read at the first port.
  private mutating func prune(_ node: Int, port: Int, _ turn: inout EventContext) {
    // latest-read: only frames of the node's own source read here, and no such frame is before
    // `oldest`.
    let (sequence, arrival) = slots.oldest(ofSource: plan.nodes[node].source)
    let oldest = LatestStateMachine.Value(
      slot: -1, id: FrameID(track: 0, sequence: sequence), arrival: arrival)
    let released = latests[node][port].prune(before: oldest)
    letGo(of: released, on: plan.nodes[node].inEdges[port], &turn)
  }

  private mutating func letGo(
    of values: [LatestStateMachine.Value], on edge: Int, _ turn: inout EventContext
  ) {
    for value in values {
      releaseValue(on: edge, Work(slot: value.slot))
      release(value.slot, &turn)
    }
  }
}
