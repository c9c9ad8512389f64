import RetakeCore
import RetakeGraph

extension DecisionCore {
  /// Requests a dispatch of the node's executor, once per microstep.
  mutating func requestDispatch(of node: Int) {
    guard let executor = plan.nodes[node].executor, services[executor].requestDispatch() else {
      return
    }
    // order-once: the key of the first node, whichever node requests the dispatch first.
    let first = plan.executors[executor].nodes[0]
    push(
      Event(
        key: EventKey.following(current, phase: .dispatch, node: first), kind: .dispatch,
        target: executor))
  }

  /// Serves ready frames while a server is free.
  mutating func dispatch(executor: Int, _ turn: inout EventContext) {
    // order-once: reset first, because serving can free buffers and so request the next dispatch.
    services[executor].beginDispatch()
    // serve-order: asked again for each free server,
    // because each start changes which nodes are ready.
    while services[executor].freeServers > 0, let (node, place) = nextReady(of: executor),
      let edge = plan.nodes[node].inEdge, let entry = take(from: edge, at: place)
    {
      if let pool = emptyPool(of: node) {
        // pool-empty: the policy is `drop` or `fail`, since serve-ready excludes a stage that
        // waits. The frame uses no server, so the next frame is served.
        endForWantOfBuffer(pool: pool, node: node, entry.work, &turn)
        releaseValue(on: edge, entry.work)
        endToken(entry.work.slotIndex, &turn)
        continue
      }
      services[executor].take()
      noteUse(1, of: executor)
      if let batch = plan.nodes[node].batch {
        startBatch(of: node, at: edge, first: entry, atMost: batch.max, &turn)
        continue
      }
      concurrency[node].start(entry.work, order: order(of: entry.work))
      // pool-lease: the buffer is taken when the service begins, because the body writes to it.
      leaseForBody(of: node, entry.work)
      decide(.start, node: node, entry.work)
      turn.actions.append(.start(node: node, work: entry.work, ready: entry.since))
    }
    if services[executor].freeServers > 0 { noteWaits(of: executor) }
  }

  private func order(of work: Work) -> ConcurrencyStateMachine.Order {
    ConcurrencyStateMachine.Order(sequence: slots[work.slotIndex].id.sequence, item: work.item)
  }

  /// Starts the first waiting frames together.
  private mutating func startBatch(
    of node: Int, at edge: Int, first: QueueStateMachine.Entry, atMost max: Int,
    _ turn: inout EventContext
  ) {
    // batch-start: in serve-order, of the frames that wait at this instant.
    var entries = [first]
    while entries.count < max, queues[edge].count > 0,
      let entry = take(from: edge, at: earliestPlace(on: edge))
    {
      entries.append(entry)
    }
    for (index, entry) in entries.enumerated() {
      concurrency[node].start(entry.work, order: order(of: entry.work), joins: index > 0)
      leaseForBody(of: node, entry.work)
      decide(.start, node: node, entry.work, .batch(entries.count))
    }
    turn.actions.append(
      .startBatch(node: node, entries.map { Action.Start(work: $0.work, ready: $0.since) }))
  }

  /// batch-ready: the frame may have to wait for others, but not longer than this.
  mutating func noteBatchWait(of node: Int, _ work: Work) {
    guard let wait = plan.nodes[node].batch?.wait.nanoseconds, wait > 0 else { return }
    // A timeout of the same frame at this node may have the same time.
    push(
      .batchWait, phase: .control, node: node, work: work, at: current.time + wait, port: 1)
  }

  mutating func endBatchWait(of node: Int) {
    guard let batch = plan.nodes[node].batch else { return }
    batchesDue[node] = current.time - batch.wait.nanoseconds
    requestDispatch(of: node)
  }

  /// Whether enough frames wait for a batch, or the first of them has waited long enough.
  private func hasBatch(_ node: Int, _ batch: PipelineBatch, at edge: Int) -> Bool {
    // batch-ready: an event ends the wait, so that a frame is not late by the order of an instant.
    queues[edge].count >= batch.max || batch.wait == .zero
      || queues[edge].first.map { $0.since <= batchesDue[node] } ?? false
  }

  /// Earliest source arrival, track, sequence, deepest rank, node ID, item.
  ///
  /// - Returns: The node, and the position of the frame in its queue.
  private func nextReady(of executor: Int) -> (node: Int, place: Int)? {
    let nodes = plan.executors[executor].nodes
    if nodes.count == 1 { return readyPlace(at: nodes[0]).map { (nodes[0], $0) } }
    var best: (order: ReadyOrder, node: Int, place: Int)?
    for node in nodes {
      guard let place = readyPlace(at: node), let edge = plan.nodes[node].inEdge else { continue }
      let slot = slots[queues[edge][place].work.slotIndex]
      // serve-order: the oldest frame of all nodes; of one
      // frame the deepest node, which is nearest to the sinks.
      let order = ReadyOrder(
        arrival: slot.arrival, frame: slot.id, depth: -plan.nodes[node].rank, node: node)
      if best.map({ order < $0.order }) ?? true { best = (order, node, place) }
    }
    return best.map { ($0.node, $0.place) }
  }

  /// The position of the work that a node would serve next: the head of its queue, unless frames
  /// overtook each other. `nil` if all its slots are busy or it waits for a buffer.
  private func readyPlace(at node: Int) -> Int? {
    guard wantsToServe(node), let edge = plan.nodes[node].inEdge else { return nil }
    // serve-ready: a stage that waits for a buffer does
    // not keep a server from the executor's other stages.
    if let pool = emptyPool(of: node), plan.pools[pool].policy == .block { return nil }
    return earliestPlace(on: edge)
  }

  private func earliestPlace(on edge: Int) -> Int {
    // serve-order: by arrival at the source, not by place
    // in the queue, because frames can overtake each other.
    // Thousands of items may wait, so they are compared only if one did.
    guard queues[edge].hasOvertaking else { return 0 }
    var first = 0
    for place in 1..<max(1, queues[edge].count)
    where isEarlier(queues[edge][place].work, than: queues[edge][first].work) {
      first = place
    }
    return first
  }

  /// Whether a frame waits and a slot is free. The frame still needs a server, and maybe a buffer.
  func wantsToServe(_ node: Int) -> Bool {
    // serve-ready: the slot counts as taken until its output has left (output-hold).
    guard !concurrency[node].isFull, let edge = plan.nodes[node].inEdge, queues[edge].count > 0
    else { return false }
    return plan.nodes[node].batch.map { hasBatch(node, $0, at: edge) } ?? true
  }

  func isEarlier(_ work: Work, than other: Work) -> Bool {
    guard work.slot != other.slot else { return work.item < other.item }
    let (slot, otherSlot) = (slots[work.slotIndex], slots[other.slotIndex])
    return (slot.arrival, slot.id) < (otherSlot.arrival, otherSlot.id)
  }

  mutating func complete(node: Int, _ work: Work, _ turn: inout EventContext) {
    guard let executor = plan.nodes[node].executor, let edge = plan.nodes[node].inEdge else {
      return
    }
    // serve-end: the server is free at the end of the
    // body, even if the output has to wait in its slot.
    let isOpen = concurrency[node].isOpen(work)
    // batch-start: the bodies of a batch share a server.
    if concurrency[node].bodyEnded(work) {
      services[executor].release()
      noteUse(-1, of: executor)
    }
    if isOpen {
      switch turn.gates.outcome(node: node, work: work) {
      case .success:
        decide(.done, node: node, work)
        noteCopy(at: node)
        // The output has its own token, because it may have to wait for its turn in the slot.
        publishOutput(of: node, work, turn)
        concurrency[node].finish(work, with: .value)
        slots.addToken(work.slotIndex)
      case .failure(let error): fail(node: node, work, error, &turn)
      }
    } else {
      // stage-late: the outcome was decided at the timeout. The gate is not asked, so even an
      // unrecoverable error has no effect.
      decide(.late, node: node, work)
    }
    releaseBody(of: node, work)
    releaseValue(on: edge, work)
    letLeave(from: node, &turn)
    endToken(work.slotIndex, &turn)
    requestDispatch(of: node)
  }

  mutating func timeOut(
    stage node: Int, _ work: Work, generation: Int32, _ turn: inout EventContext
  ) {
    guard slots[work.slotIndex].generation == generation, concurrency[node].isOpen(work) else {
      return
    }
    // stage-timeout: the frame fails now. Its body still
    // runs, and keeps server and slot until it ends.
    decide(.timeout, node: node, work)
    fail(
      node: node, work,
      StageError(code: "timeout", message: "it took longer than its timeout allows"), &turn)
    letLeave(from: node, &turn)
    // A frame that failed earlier and waited for this one may have returned its slot.
    requestDispatch(of: node)
  }

  private mutating func fail(
    node: Int, _ work: Work, _ error: StageError, _ turn: inout EventContext
  ) {
    decide(work.isItem ? .itemFail : .fail, node: node, work, .code(error.code))
    turn.actions.append(.report(node: node, work: work, error))
    guard error.severity == .recoverable else {
      concurrency[node].abandon(work)
      // stage-halt: an event of the control phase, so bodies
      // that end in the same microstep are decided before.
      let ending = endings.add(.failed(code: error.code), node: node)
      push(
        .halt, phase: .control, node: node, work: work, at: current.time, extra: ending)
      slots.addToken(work.slotIndex)
      return
    }
    if plan.nodes[node].hasFallback {
      // stage-fallback: decided at its turn (output-order), because
      // the frame before it may still leave a newer value.
      concurrency[node].finish(work, with: .fallback(code: error.code))
      slots.addToken(work.slotIndex)
    } else {
      concurrency[node].abandon(work)
      // stage-fail: the slot has no output any more, so later frames do not wait for this one.
      bury(work, fate: .failed(code: error.code), node: node)
    }
  }

  /// Outputs leave in order, each after every edge has accepted the previous output.
  mutating func letLeave(from node: Int, _ turn: inout EventContext) {
    // Bounded: each turn removes an output from a slot. output-order: `nextToLeave` knows the
    // order.
    while let (work, output) = concurrency[node].nextToLeave() {
      switch output {
      case .value: rememberLeft(work, origin: nil, node: node, &turn)
      case .fallback(let code):
        guard fallBack(work, code: code, node: node, &turn) else {
          concurrency[node].left()
          endToken(work.slotIndex, &turn)
          continue
        }
      }
      // output-hold: from here on `nextToLeave` returns `nil` until all edges have settled this
      // output.
      offerOutput(of: node, work)
      releaseOutput(of: node, work)
      endToken(work.slotIndex, &turn)
    }
  }

  /// Replaces the value of a failed frame with the value that left last; without one, the frame
  /// ends.
  private mutating func fallBack(
    _ work: Work, code: String, node: Int, _ turn: inout EventContext
  ) -> Bool {
    // stage-fallback: before the first value has left, there is no value to repeat, and the frame
    // fails.
    guard let last = concurrency[node].lastValue else {
      bury(work, fate: .failed(code: code), node: node)
      return false
    }
    decide(.fallback, node: node, work, .from(last.origin))
    turn.actions.append(.fallback(node: node, slot: work.slotIndex, from: last.slot))
    shareLeases(of: node, from: Work(slot: last.slot), to: work)
    // `from` names the frame that the value was computed
    // for, even if the value is repeated several times.
    rememberLeft(work, origin: last.origin, node: node, &turn)
    return true
  }

  /// Remembers the value that leaves as the fallback of a later failure.
  private mutating func rememberLeft(
    _ work: Work, origin: FrameID?, node: Int, _ turn: inout EventContext
  ) {
    guard plan.nodes[node].hasFallback else { return }
    let slot = work.slotIndex
    slots.retain(slot)
    // pool-holders: the value may be needed again, so
    // it keeps its buffers until the next one leaves.
    retainOutput(of: node, work)
    let value = ConcurrencyStateMachine.LastValue(slot: slot, origin: origin ?? slots[slot].id)
    guard let last = concurrency[node].remember(value) else { return }
    releaseOutput(of: node, Work(slot: last.slot))
    release(last.slot, &turn)
  }
}

/// The order in which ready work is served.
private struct ReadyOrder: Comparable {
  var arrival: Int64
  var frame: FrameID
  /// Deepest first: the rank, negated.
  var depth: Int
  /// Nodes of one rank are numbered in the order of their IDs.
  var node: Int

  static func < (left: ReadyOrder, right: ReadyOrder) -> Bool {
    (left.arrival, left.frame, left.depth, left.node)
      < (right.arrival, right.frame, right.depth, right.node)
  }
}
