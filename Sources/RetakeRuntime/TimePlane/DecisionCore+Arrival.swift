import RetakeCore
import RetakeGraph

extension DecisionCore {
  /// A frame reaches its source. With a full block edge it is lost for all paths; frames that are
  /// admitted at this instant and still on their way to the queue count as waiting in it.
  mutating func arrive(
    source: Int, slot: Int, failure: String?, _ actions: inout [Action]
  ) {
    if plan.nodes[source].outEdges.contains(where: { isSourceEdgeFull($0) }) {
      decide(.lost, node: source, slot: slot, .reason("queue"))
      actions.append(.lost(slot: slot))
      freeSlot(slot)
      return
    }
    actions.append(.captured(slot: slot))
    if let failure {
      decide(.fail, node: source, slot: slot, .code(failure))
      actions.append(.report(node: source, slot: slot, code: failure))
      bury(slot: slot, fate: .failed(code: failure), node: source)
      return
    }
    for edge in plan.nodes[source].outEdges { offer(edge: edge, slot: slot) }
  }

  private func isSourceEdgeFull(_ edge: Int) -> Bool {
    guard queues[edge].policy == .block else { return false }
    return queues[edge].count >= queues[edge].capacity - offersInTransit[edge]
  }
}
