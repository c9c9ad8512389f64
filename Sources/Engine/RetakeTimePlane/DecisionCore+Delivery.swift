import RetakeCore

extension DecisionCore {
  /// Sends a frame along an edge: the receiver is offered the frame in the delivery phase.
  mutating func offer(edge: Int, _ work: Work) {
    queues[edge].send()
    slots.addToken(work.slotIndex)
    // pool-holders: the offer holds the buffers; its
    // hold passes to the queue, and then to the taker.
    retainValue(on: edge, work)
    push(
      .delivery, phase: .delivery, node: plan.edges[edge].to, work: work, at: current.time,
      port: plan.edges[edge].toPort, extra: edge)
  }

  mutating func deliver(edge: Int, _ work: Work, _ turn: inout EventContext) {
    let receiver = plan.edges[edge].to
    switch queues[edge].offer(work, at: current.time) {
    case .accepted:
      // queue-room: the frame enters the queue, even if a server is free.
      decide(.deliver, node: receiver, work)
    case .droppedNewest:
      // queue-drop-newest: the sender continues, because this edge has settled the offer.
      drop(work, at: edge, &turn)
    case .droppedOldest(let oldest):
      // queue-drop-oldest: the oldest ends before the new frame is accepted, also in the log.
      drop(oldest, at: edge, &turn)
      decide(.deliver, node: receiver, work)
    case .replaced(let oldest):
      // queue-replace: the waiting frame ends with the fate `replaced`; it does not count as a
      // drop.
      decide(.supersede, node: receiver, oldest)
      leave(edge: edge, oldest, fate: .replaced, &turn)
      decide(.deliver, node: receiver, work)
    case .blocked:
      // queue-block: the offer is not settled, so the sender cannot offer another frame.
      decide(.block, node: receiver, work)
      return
    }
    noteAccepted(work, on: edge)
    // sender-first: sender and receiver may both take frames and write lines within this event, so
    // their order is fixed.
    settleOffer(of: plan.edges[edge].from, &turn)
    runNode(receiver, &turn)
  }

  mutating func unblock(edge: Int, _ turn: inout EventContext) {
    guard let work = queues[edge].unblock(at: current.time) else { return }
    let receiver = plan.edges[edge].to
    // queue-unblock: the frame enters the queue like any other, so `deliver` follows.
    decide(.unblock, node: receiver, work)
    decide(.deliver, node: receiver, work)
    noteAccepted(work, on: edge)
    // sender-first: as for a frame that was accepted at once.
    settleOffer(of: plan.edges[edge].from, &turn)
    runNode(receiver, &turn)
  }

  private mutating func noteAccepted(_ work: Work, on edge: Int) {
    noteBatchWait(of: plan.edges[edge].to, work)
    let last = queues[edge].count - 1
    guard last > 0, isEarlier(queues[edge][last].work, than: queues[edge][last - 1].work) else {
      return
    }
    queues[edge].noteOvertaking()
  }

  private mutating func drop(_ work: Work, at edge: Int, _ turn: inout EventContext) {
    // drop-reasons: `queue`, at the receiver, because its queue was full.
    decide(.drop, node: plan.edges[edge].to, work, .reason(DropReason.queue.rawValue))
    leave(edge: edge, work, fate: .dropped(.queue), &turn)
  }

  /// A frame ends at an in edge of a node.
  private mutating func leave(
    edge: Int, _ work: Work, fate: FrameFate, _ turn: inout EventContext
  ) {
    let ending = endings.add(fate, node: plan.edges[edge].to)
    // tombstone: it adds its own tokens before the frame's
    // token ends, so the frame is not settled too early.
    sendTombstone(fromEdge: edge, work, ending: ending)
    releaseValue(on: edge, work)
    endToken(work.slotIndex, &turn)
  }

  /// The sender may continue once all its edges have settled its output.
  private mutating func settleOffer(of sender: Int, _ turn: inout EventContext) {
    switch plan.nodes[sender].role {
    // A source does not wait for its edges: if a queue was full, the frame was lost (source-lost).
    case .source: return
    case .fork:
      guard offers[sender].settle() else { return }
      offerNextItem(of: sender, &turn)
    // offer-each-edge: a sender continues when the last of its edges has settled the output.
    case .pure, .stateful:
      guard offers[sender].settle() else { return }
      // output-hold: the output is settled. Its slot is free if its body has ended.
      concurrency[sender].left()
      letLeave(from: sender, &turn)
      requestDispatch(of: sender)
    case .throttle, .sample, .route, .join, .latest, .gather, .sink:
      guard offers[sender].settle() else { return }
      runNode(sender, &turn)
    }
  }

  /// The node may have input that is ready: a stage requests a server, other nodes process their
  /// input at once.
  mutating func runNode(_ node: Int, _ turn: inout EventContext) {
    switch plan.nodes[node].role {
    case .source: break
    case .pure, .stateful: requestDispatch(of: node)
    case .throttle, .sample: runThinning(node, &turn)
    case .route: runRoute(node, &turn)
    case .join: runJoin(node, &turn)
    case .latest: runLatest(node, &turn)
    case .fork: runFork(node, &turn)
    case .gather: runGather(node, &turn)
    case .sink: receive(at: node, &turn)
    }
  }

  /// Takes a waiting frame, by default the frame that waited longest. The blocked frame gets the
  /// free place. The frame's token, and its hold on its buffers, pass to the taker.
  mutating func take(from edge: Int, at place: Int = 0) -> QueueStateMachine.Entry? {
    guard let entry = queues[edge].take(at: place) else { return nil }
    // queue-unblock: an event of this instant and not a direct call, so that its key orders it
    // among the other deliveries.
    if let blocked = queues[edge].claimUnblock() {
      push(
        .unblock, phase: .delivery, node: plan.edges[edge].to, work: blocked, at: current.time,
        port: plan.edges[edge].toPort, extra: edge)
    }
    return entry
  }

  /// Offers a pass-through node's output to its edges and releases the token of its input.
  mutating func handOn(_ work: Work, from node: Int, _ turn: inout EventContext) {
    offerOutput(of: node, work)
    endToken(work.slotIndex, &turn)
  }

  /// Offers a node's output to all of its edges. The next output waits until they have settled it.
  mutating func offerOutput(of node: Int, _ work: Work) {
    // offer-each-edge: an edge that blocks does not keep the other edges from taking the output.
    offers[node].offer(to: plan.nodes[node].outEdges.count)
    for edge in plan.nodes[node].outEdges { offer(edge: edge, work) }
  }

  private mutating func receive(at sink: Int, _ turn: inout EventContext) {
    guard let edge = plan.nodes[sink].inEdge, let entry = take(from: edge) else { return }
    let slot = entry.work.slotIndex
    // sink-take: in the event of the frame's delivery; a sink has no server and no cost.
    turn.actions.append(.deliver(sink: sink, slot: slot))
    if holdsAtSinks {
      // sink-hold: live, the sink's lease decides when the buffers are free.
      slots.retain(slot)
    } else if screens[sink] != nil {
      // screen-refresh: the screen decides when the buffers are free.
      show(entry.work, on: sink)
    } else if rules.isBounded, !rules.isLive, let hold = plan.nodes[sink].holdNanoseconds, hold > 0
    {
      // sink-hold: the frame is settled now, but its slot and buffers are kept until the hold ends.
      slots.retain(slot)
      push(
        .holdEnd, phase: .completion, node: sink, work: entry.work, at: current.time + hold)
    } else {
      releaseValue(on: edge, entry.work)
    }
    settleSink(slot, &turn)
    endToken(slot, &turn)
  }

  mutating func endHold(sink: Int, _ work: Work, _ turn: inout EventContext) {
    guard let edge = plan.nodes[sink].inEdge else { return }
    releaseValue(on: edge, work)
    release(work.slotIndex, &turn)
  }
}
