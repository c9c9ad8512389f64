extension DecisionCore {
  /// A forEach takes a frame after the last item of the previous frame was accepted.
  mutating func runFork(_ node: Int, _ turn: inout EventContext) {
    guard let edge = plan.nodes[node].inEdge, let gather = plan.nodes[node].gather else { return }
    // Bounded: each turn removes a frame from a finite queue.
    while !forks[node].isBusy, let entry = take(from: edge) {
      let slot = entry.work.slotIndex
      // fork-take: a gate, so virtual time waits here for the value whose items are counted.
      let items = turn.gates.itemCount(node: node, slot: slot)
      decide(.fanout, node: node, entry.work, .items(items))
      // order-bound: the items were not on their way when this instant began.
      allowMicrosteps(forTokens: items)
      turn.actions.append(.fanOut(node: node, slot: slot, items: items))
      gathers[gather].open(slot: slot, sequence: slots[slot].id.sequence, items: items)
      // The gather's token: it ends when the frame leaves the gather.
      slots.addToken(slot)
      guard items > 0 else {
        // gather-close: no item will close this frame, so an event at the gather does.
        push(
          .emptyFrame, phase: .delivery, node: gather, work: entry.work, at: current.time)
        releaseValue(on: edge, entry.work)
        endToken(slot, &turn)
        continue
      }
      forks[node].begin(slot: entry.work.slot, items: items)
      offerNextItem(of: node, &turn)
    }
  }

  /// Offers the next item, or releases the frame once all items were accepted.
  mutating func offerNextItem(of node: Int, _ turn: inout EventContext) {
    guard let edge = plan.nodes[node].inEdge else { return }
    if let item = forks[node].nextItem() {
      // fork-item: the next one is offered when all edges have settled this one (`settleOffer`).
      passLeases(of: Work(slot: item.slotIndex), through: node, from: edge, as: item)
      offerOutput(of: node, item)
    } else if let slot = forks[node].end() {
      // fork-take, pool-holders: items use the frame's buffers, so the forEach holds them until the
      // last item was accepted.
      releaseValue(on: edge, Work(slot: slot))
      endToken(slot, &turn)
      runFork(node, &turn)
    }
  }

  /// Items are added to their frames in the order in which they arrive. Complete frames leave in
  /// order.
  mutating func runGather(_ node: Int, _ turn: inout EventContext) {
    guard let edge = plan.nodes[node].inEdge else { return }
    // Bounded: each turn lets a frame leave or removes an item from a finite queue.
    while !offers[node].isHeld {
      if let slot = gathers[node].nextToLeave() {
        // gather-leave: one frame at a time, by sequence.
        let work = Work(slot: slot)
        offerOutput(of: node, work)
        releaseOutput(of: node, work)
        endToken(slot, &turn)
      } else if let entry = take(from: edge) {
        // pool-lease: the gathered frame uses the buffers of its items' outputs.
        gatherLeases(of: entry.work, at: node, from: edge)
        add(item: entry.work, to: node, isFailed: false, &turn)
        releaseValue(on: edge, entry.work)
        endToken(entry.work.slotIndex, &turn)
      } else {
        return
      }
    }
  }

  /// An item failed in the body. It keeps its place in the list.
  mutating func endItem(_ item: Work, gather node: Int, _ turn: inout EventContext) {
    add(item: item, to: node, isFailed: true, &turn)
    runGather(node, &turn)
  }

  mutating func closeEmpty(gather node: Int, slot: Int, _ turn: inout EventContext) {
    if let whole = gathers[node].close(slot: slot) { join(node, slot: slot, whole, &turn) }
    runGather(node, &turn)
  }

  private mutating func add(item: Work, to node: Int, isFailed: Bool, _ turn: inout EventContext) {
    guard let whole = gathers[node].add(slot: item.slotIndex, isFailed: isFailed) else { return }
    join(node, slot: item.slotIndex, whole, &turn)
  }

  private mutating func join(
    _ node: Int, slot: Int, _ whole: (items: Int, failed: Int), _ turn: inout EventContext
  ) {
    decide(
      .join, node: node, Work(slot: slot), .gathered(items: whole.items, failed: whole.failed))
    turn.actions.append(.gather(node: node, slot: slot))
  }
}
