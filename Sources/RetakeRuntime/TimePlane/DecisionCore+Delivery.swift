import RetakeCore
import RetakeGraph

extension DecisionCore {
  /// Sends a frame along an edge: it is offered to the receiver in the delivery phase.
  mutating func offer(edge: Int, slot: Int) {
    offersInTransit[edge] += 1
    let receiver = plan.edges[edge].to
    push(
      Event(
        key: followingKey(phase: .delivery, node: receiver, slot: slot), kind: .delivery,
        target: receiver, slot: slot, extra: edge))
  }

  mutating func deliver(edge: Int, slot: Int, _ actions: inout [Action]) {
    offersInTransit[edge] -= 1
    let receiver = plan.edges[edge].to
    switch queues[edge].offer(slot: slot, at: current.time) {
    case .accepted:
      decide(.deliver, node: receiver, slot: slot)
    case .droppedNewest:
      drop(slot: slot, at: receiver)
    case .droppedOldest(let oldest):
      drop(slot: oldest, at: receiver)
      decide(.deliver, node: receiver, slot: slot)
    case .superseded(let oldest):
      decide(.supersede, node: receiver, slot: oldest)
      bury(slot: oldest, fate: .superseded, node: receiver)
      decide(.deliver, node: receiver, slot: slot)
    case .blocked:
      decide(.block, node: receiver, slot: slot)
      return
    }
    settleOffer(of: plan.edges[edge].from, &actions)
    work(at: receiver, &actions)
  }

  mutating func unblock(edge: Int, _ actions: inout [Action]) {
    guard let slot = queues[edge].unblock(at: current.time) else { return }
    let receiver = plan.edges[edge].to
    decide(.unblock, node: receiver, slot: slot)
    decide(.deliver, node: receiver, slot: slot)
    settleOffer(of: plan.edges[edge].from, &actions)
    work(at: receiver, &actions)
  }

  private mutating func drop(slot: Int, at node: Int) {
    decide(.drop, node: node, slot: slot, .reason(DropReason.queue.rawValue))
    bury(slot: slot, fate: .dropped(.queue), node: node)
  }

  /// The sender may go on once all its edges have settled its output.
  private mutating func settleOffer(of sender: Int, _ actions: inout [Action]) {
    guard plan.nodes[sender].role != .source, lanes[sender].settleOffer() else { return }
    work(at: sender, &actions)
  }

  /// Something may be ready at this node: a stage asks for a server, other nodes take their input
  /// at once.
  mutating func work(at node: Int, _ actions: inout [Action]) {
    switch plan.nodes[node].role {
    case .source: break
    case .pure, .stateful: requestDispatch(of: node)
    case .throttle: runThrottle(node, &actions)
    case .sink: receive(at: node, &actions)
    case .sample, .route, .join, .latest, .fork, .gather:
      preconditionFailure("such a graph is refused when it is prepared")
    }
  }

  /// Takes the frame that waited longest; whoever was blocked by it gets its place.
  mutating func take(from edge: Int) -> QueueStateMachine.Entry? {
    guard let entry = queues[edge].take() else { return nil }
    if let blocked = queues[edge].claimUnblock() {
      let receiver = plan.edges[edge].to
      push(
        Event(
          key: followingKey(phase: .delivery, node: receiver, slot: blocked), kind: .unblock,
          target: receiver, slot: blocked, extra: edge))
    }
    return entry
  }

  /// A throttle takes a frame when its out edges have settled the one before.
  private mutating func runThrottle(_ node: Int, _ actions: inout [Action]) {
    guard let edge = plan.nodes[node].inEdge else { return }
    // Bounded: each turn takes a frame from a finite queue.
    while !lanes[node].isHeld, let entry = take(from: edge) {
      guard throttles[node]?.passes(at: entry.since) ?? true else {
        decide(.thin, node: node, slot: entry.slot)
        bury(
          slot: entry.slot, fate: .thinned(by: plan.nodes[node].stage.signature.kind), node: node)
        continue
      }
      actions.append(.pass(node: node, slot: entry.slot))
      lanes[node].hold()
      lanes[node].offer(to: plan.nodes[node].outEdges.count)
      for edge in plan.nodes[node].outEdges { offer(edge: edge, slot: entry.slot) }
    }
  }

  private mutating func receive(at sink: Int, _ actions: inout [Action]) {
    guard let edge = plan.nodes[sink].inEdge, let entry = take(from: edge) else { return }
    actions.append(.deliver(sink: sink, slot: entry.slot))
    settle(slot: entry.slot, &actions)
  }

  // MARK: Tombstones

  /// Ends a frame at a node: everybody behind it is told at this instant.
  mutating func bury(slot: Int, fate: FrameFate, node: Int) {
    let ending = makeEnding(fate: fate, node: node)
    sendTombstone(from: node, slot: slot, ending: ending)
  }

  private mutating func sendTombstone(from node: Int, slot: Int, ending: Int) {
    // An ending that a receiving node decided about its own input has not passed that node.
    let first = plan.nodes[node]
    let targets =
      first.role == .sink ? [node] : first.outEdges.map { plan.edges[$0].to }
    for target in targets {
      endings[ending].references += 1
      push(
        Event(
          key: followingKey(phase: .delivery, node: target, slot: slot), kind: .tombstone,
          target: target, slot: slot, extra: ending))
    }
  }

  mutating func passTombstone(node: Int, slot: Int, ending: Int, _ actions: inout [Action]) {
    if plan.nodes[node].role == .sink {
      let end = endings[ending]
      decide(.outcome, node: node, slot: slot, .ending(end.fate, node: end.node))
      actions.append(.end(sink: node, slot: slot, end.fate, node: end.node))
      settle(slot: slot, &actions)
    } else {
      sendTombstone(from: node, slot: slot, ending: ending)
    }
    releaseEnding(ending)
  }
}
