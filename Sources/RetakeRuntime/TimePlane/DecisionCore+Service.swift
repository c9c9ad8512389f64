import RetakeCore
import RetakeGraph

extension DecisionCore {
  /// Requests a dispatch of the node's executor, once per microstep.
  mutating func requestDispatch(of node: Int) {
    guard let executor = plan.nodes[node].executor, !services[executor].isDispatchPending else {
      return
    }
    services[executor].isDispatchPending = true
    let first = plan.executors[executor].nodes[0]
    push(
      Event(
        key: EventKey.following(current, phase: .dispatch, node: first), kind: .dispatch,
        target: executor))
  }

  /// Serves ready frames while a server is free.
  mutating func dispatch(executor: Int, _ turn: inout Turn) {
    services[executor].isDispatchPending = false
    while services[executor].freeServers > 0, let (node, place) = nextReady(of: executor),
      let edge = plan.nodes[node].inEdge, let entry = take(from: edge, at: place)
    {
      if let pool = emptyPool(of: node) {
        endForWantOfBuffer(pool: pool, node: node, entry.work, &turn)
        releaseValue(on: edge, entry.work, &turn)
        endToken(entry.work.slotIndex, &turn)
        continue
      }
      services[executor].take()
      lanes[node].start(entry.work, order: order(of: entry.work))
      leaseForBody(of: node, entry.work)
      decide(.start, node: node, entry.work)
      turn.actions.append(.start(node: node, work: entry.work, ready: entry.since))
    }
    if services[executor].freeServers > 0 { noteWaits(of: executor) }
  }

  private func order(of work: Work) -> LaneStateMachine.Order {
    LaneStateMachine.Order(sequence: slots[work.slotIndex].id.sequence, item: work.item)
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
      let order = ReadyOrder(
        arrival: slot.arrival, frame: slot.id, depth: -plan.nodes[node].rank, node: node)
      if best.map({ order < $0.order }) ?? true { best = (order, node, place) }
    }
    return best.map { ($0.node, $0.place) }
  }

  /// The position of the work that a node would serve next: the head of its queue, unless frames
  /// overtook each other. `nil` if all its lanes are busy or it waits for a buffer.
  private func readyPlace(at node: Int) -> Int? {
    guard wantsToServe(node), let edge = plan.nodes[node].inEdge else { return nil }
    if let pool = emptyPool(of: node), plan.pools[pool].policy == .block { return nil }
    var first = 0
    for place in 1..<max(1, queues[edge].count)
    where isEarlier(queues[edge][place].work, than: queues[edge][first].work) {
      first = place
    }
    return first
  }

  /// Whether a frame waits and a lane is free. The frame still needs a server, and maybe a buffer.
  func wantsToServe(_ node: Int) -> Bool {
    guard !lanes[node].isFull, let edge = plan.nodes[node].inEdge else { return false }
    return queues[edge].count > 0
  }

  private func isEarlier(_ work: Work, than other: Work) -> Bool {
    guard work.slot != other.slot else { return work.item < other.item }
    let (slot, otherSlot) = (slots[work.slotIndex], slots[other.slotIndex])
    return (slot.arrival, slot.id) < (otherSlot.arrival, otherSlot.id)
  }

  mutating func complete(node: Int, _ work: Work, _ turn: inout Turn) {
    guard let executor = plan.nodes[node].executor, let edge = plan.nodes[node].inEdge else {
      return
    }
    services[executor].release()
    let isOpen = lanes[node].isOpen(work)
    lanes[node].bodyEnded(work)
    if isOpen {
      switch turn.gates.outcome(node: node, work: work) {
      case .success:
        decide(.done, node: node, work)
        publishOutput(of: node, work, turn)
        lanes[node].finish(work, with: .value)
        addToken(work.slotIndex)
      case .failure(let error): fail(node: node, work, error, &turn)
      }
    } else {
      decide(.late, node: node, work)
    }
    releaseBody(of: node, work, &turn)
    releaseValue(on: edge, work, &turn)
    letLeave(from: node, &turn)
    endToken(work.slotIndex, &turn)
    requestDispatch(of: node)
  }

  mutating func timeOut(
    stage node: Int, _ work: Work, generation: Int32, _ turn: inout Turn
  ) {
    guard slots[work.slotIndex].generation == generation, lanes[node].isOpen(work) else { return }
    decide(.timeout, node: node, work)
    fail(
      node: node, work,
      StageError(code: "timeout", message: "it took longer than its timeout allows"), &turn)
    letLeave(from: node, &turn)
    // A frame that failed earlier and waited for this one may have returned its lane.
    requestDispatch(of: node)
  }

  private mutating func fail(
    node: Int, _ work: Work, _ error: StageError, _ turn: inout Turn
  ) {
    decide(work.isItem ? .itemFail : .fail, node: node, work, .code(error.code))
    turn.actions.append(.report(node: node, work: work, error))
    guard error.severity == .recoverable else {
      lanes[node].abandon(work)
      let ending = makeEnding(fate: .failed(code: error.code), node: node)
      push(
        .halt, phase: .control, node: node, work: work, at: current.time, extra: ending)
      addToken(work.slotIndex)
      return
    }
    if plan.nodes[node].hasFallback {
      lanes[node].finish(work, with: .fallback)
      failures[node].append(Failure(work: work, code: error.code))
      addToken(work.slotIndex)
    } else {
      lanes[node].abandon(work)
      bury(work, fate: .failed(code: error.code), node: node)
    }
  }

  /// Outputs leave in order, each after every edge has accepted the one before it.
  mutating func letLeave(from node: Int, _ turn: inout Turn) {
    // Bounded: each turn takes an output out of a lane.
    while let (work, output) = lanes[node].nextToLeave() {
      switch output {
      case .value: rememberLeft(work, origin: nil, node: node, &turn)
      case .fallback:
        guard fallBack(work, node: node, &turn) else {
          lanes[node].left()
          endToken(work.slotIndex, &turn)
          continue
        }
      }
      offerOutput(of: node, work)
      releaseOutput(of: node, work, &turn)
      endToken(work.slotIndex, &turn)
    }
  }

  /// Replaces the value of a failed frame with the value that left last; without one, the frame
  /// ends.
  private mutating func fallBack(_ work: Work, node: Int, _ turn: inout Turn) -> Bool {
    guard let index = failures[node].firstIndex(where: { $0.work == work }) else { return false }
    let code = failures[node].remove(at: index).code
    guard let last = previous[node] else {
      bury(work, fate: .failed(code: code), node: node)
      return false
    }
    decide(.fallback, node: node, work, .from(last.origin))
    turn.actions.append(.fallback(node: node, slot: work.slotIndex, from: last.slot))
    shareLeases(of: node, from: Work(slot: last.slot), to: work)
    rememberLeft(work, origin: last.origin, node: node, &turn)
    return true
  }

  /// Remembers the value that leaves as the fallback of a later failure.
  private mutating func rememberLeft(
    _ work: Work, origin: FrameID?, node: Int, _ turn: inout Turn
  ) {
    guard plan.nodes[node].hasFallback else { return }
    let slot = work.slotIndex
    retain(slot)
    retainOutput(of: node, work)
    let last = previous[node]
    previous[node] = Previous(slot: slot, origin: origin ?? slots[slot].id)
    guard let last else { return }
    releaseOutput(of: node, Work(slot: last.slot), &turn)
    release(last.slot, &turn)
  }
}

/// A frame that failed and waits for its turn to get a fallback.
struct Failure: Sendable {
  var work: Work
  var code: String
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
