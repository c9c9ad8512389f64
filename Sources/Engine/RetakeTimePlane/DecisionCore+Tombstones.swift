import RetakeCore

extension DecisionCore {
  /// Ends a frame at a node: every node downstream is notified at this instant.
  mutating func bury(_ work: Work, fate: FrameFate, node: Int) {
    let ending = endings.add(fate, node: node)
    for edge in plan.nodes[node].outEdges { sendTombstone(along: edge, work, ending: ending) }
  }

  /// Ends a frame at an in edge of a node. If the node is a sink, a join or a latest join, the node
  /// itself is notified; otherwise the nodes after it are notified.
  mutating func sendTombstone(fromEdge edge: Int, _ work: Work, ending: Int) {
    let receiver = plan.edges[edge].to
    switch plan.nodes[receiver].role {
    case .sink, .join, .latest: sendTombstone(along: edge, work, ending: ending)
    default:
      for next in plan.nodes[receiver].outEdges { sendTombstone(along: next, work, ending: ending) }
    }
  }

  mutating func sendTombstone(along edge: Int, _ work: Work, ending: Int) {
    // tombstone: a delivery that no queue judges, so it needs no free place and no server, and
    // overtakes frames that wait.
    endings.retain(ending)
    slots.addToken(work.slotIndex)
    push(
      .tombstone, phase: .delivery, node: plan.edges[edge].to, work: work, at: current.time,
      port: plan.edges[edge].toPort, extra: ending)
  }

  mutating func passTombstone(
    node: Int, _ work: Work, _ tombstone: Tombstone, _ turn: inout EventContext
  ) {
    let slot = work.slotIndex
    switch plan.nodes[node].role {
    case .sink:
      let end = endings[tombstone.ending]
      // tombstone, ledger: the frame does not reach the sink, but the sink counts its fate.
      decide(.outcome, node: node, work, .ending(end.fate, node: end.node))
      turn.actions.append(.end(sink: node, slot: slot, end.fate, node: end.node))
      settleSink(slot, &turn)
    case .join: endPart(join: node, slot: slot, tombstone, &turn)
    // latest-silent: only frames of the first port leave a latest join.
    case .latest where tombstone.port > 0: break
    // gather-close: the item keeps its place in the list, as a failed one.
    case .gather where work.isItem: endItem(work, gather: node, &turn)
    default:
      // tombstone: the ending stays the same, so every sink names the first node and reason.
      for edge in plan.nodes[node].outEdges {
        sendTombstone(along: edge, work, ending: tombstone.ending)
      }
    }
    // Last, because the tombstones that were sent on above need the ending and the frame.
    endings.release(tombstone.ending)
    endToken(slot, &turn)
  }
}
