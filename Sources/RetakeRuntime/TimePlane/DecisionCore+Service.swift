import RetakeCore
import RetakeGraph

extension DecisionCore {
  /// Asks for a dispatch of the node's executor, once a microstep.
  mutating func requestDispatch(of node: Int) {
    guard let executor = plan.nodes[node].executor, !services[executor].isDispatchPending else {
      return
    }
    services[executor].isDispatchPending = true
    push(
      Event(
        key: followingKey(phase: .dispatch, node: plan.executors[executor].nodes[0]),
        kind: .dispatch, target: executor))
  }

  /// Serves ready frames while a server is free.
  mutating func dispatch(executor: Int, _ actions: inout [Action]) {
    services[executor].isDispatchPending = false
    while services[executor].freeServers > 0, let node = nextReady(of: executor),
      let edge = plan.nodes[node].inEdge, let entry = take(from: edge)
    {
      services[executor].take()
      lanes[node].hold()
      decide(.start, node: node, slot: entry.slot)
      actions.append(.start(node: node, slot: entry.slot))
    }
  }

  /// Earliest source arrival, track, sequence, deepest rank, node id.
  private func nextReady(of executor: Int) -> Int? {
    var best: (order: ReadyOrder, node: Int)?
    for node in plan.executors[executor].nodes where !lanes[node].isHeld {
      guard let edge = plan.nodes[node].inEdge, let entry = queues[edge].first else { continue }
      let slot = slots[entry.slot]
      let order = ReadyOrder(
        arrival: slot.arrival, frame: slot.id, depth: -plan.nodes[node].rank, node: node)
      if best.map({ order < $0.order }) ?? true { best = (order, node) }
    }
    return best?.node
  }

  mutating func complete(
    node: Int, slot: Int, _ outcome: CompletionOutcome, _ actions: inout [Action]
  ) {
    guard let executor = plan.nodes[node].executor else { return }
    services[executor].release()
    switch outcome {
    case .success:
      decide(.done, node: node, slot: slot)
      lanes[node].offer(to: plan.nodes[node].outEdges.count)
      for edge in plan.nodes[node].outEdges { offer(edge: edge, slot: slot) }
    case .failure(let error):
      fail(node: node, slot: slot, error, &actions)
    }
    requestDispatch(of: node)
  }

  private mutating func fail(
    node: Int, slot: Int, _ error: StageError, _ actions: inout [Action]
  ) {
    decide(.fail, node: node, slot: slot, .code(error.code))
    actions.append(.report(node: node, slot: slot, code: error.code))
    lanes[node].release()
    switch error.severity {
    case .recoverable:
      bury(slot: slot, fate: .failed(code: error.code), node: node)
    case .unrecoverable:
      let ending = makeEnding(fate: .failed(code: error.code), node: node)
      push(
        Event(
          key: followingKey(phase: .control, node: node, slot: slot), kind: .halt, target: node,
          slot: slot, extra: ending))
    }
  }
}

/// The order in which ready work is served.
private struct ReadyOrder: Comparable {
  var arrival: Int64
  var frame: FrameID
  /// Deepest first: the rank, negated.
  var depth: Int
  /// Nodes of one rank are numbered by their ids.
  var node: Int

  static func < (left: ReadyOrder, right: ReadyOrder) -> Bool {
    (left.arrival, left.frame, left.depth, left.node)
      < (right.arrival, right.frame, right.depth, right.node)
  }
}
