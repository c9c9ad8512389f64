extension DecisionCore {
  /// The largest number of sentences in the explanation.
  private static var explanationMax: Int { 12 }

  /// Explains why nodes wait when no frame can ever advance, and closes the log with a `stuck`
  /// line.
  package mutating func explainStuck() -> String {
    var sentences: [String] = []
    var first: Int?
    for node in plan.nodes.indices where sentences.count < Self.explanationMax {
      guard let sentence = waiting(at: node) else { continue }
      first = first ?? node
      sentences.append(sentence)
    }
    // stuck: the line names no frame, only the first node that waits, in the order of nodes.
    decide(.stuck, node: first ?? plan.primarySink)
    return sentences.isEmpty
      ? "a frame has not ended, and no stage holds it" : sentences.joined(separator: "; ")
  }

  /// The reason why a node, or a sender to it, waits; `nil` if neither waits.
  private func waiting(at node: Int) -> String? {
    let id = plan.nodes[node].id
    if let pool = emptyPool(of: node), let edge = plan.nodes[node].inEdge,
      let entry = queues[edge].first
    {
      let name = plan.pools[pool].id
      return "'\(id)' waits with frame \(text(entry.work)) for a buffer of the pool '\(name)', "
        + "held by \(holders(of: pool).joined(separator: ", "))"
    }
    if let machine = joins[node], let slot = machine.waitingSlots.first {
      return "'\(id)' waits for the partners of frame \(slots[slot].id)"
    }
    for edge in plan.nodes[node].inEdges {
      guard let blocked = queues[edge].blocked else { continue }
      let sender = plan.nodes[plan.edges[edge].from].id
      return "'\(sender)' waits with frame \(text(blocked)) because the queue of '\(id)' is full"
    }
    return nil
  }

  private func text(_ work: Work) -> String {
    let id = slots[work.slotIndex].id
    return work.isItem ? "\(id).\(work.item)" : "\(id)"
  }

  /// The places that hold buffers of a pool.
  private func holders(of pool: Int) -> [String] {
    var places: [String] = []
    for (index, edge) in plan.edges.enumerated() {
      let waiting = queues[index].entries.map(\.work) + (queues[index].blocked.map { [$0] } ?? [])
      let count = waiting.count { holds($0, from: edge.from, pool) }
      if count > 0 { places.append("the queue of '\(plan.nodes[edge.to].id)' (\(count))") }
    }
    for node in plan.nodes.indices {
      let id = plan.nodes[node].id
      let parts = joins[node]?.waitingSlots ?? []
      let held = parts.count { slot in
        plan.nodes[node].inEdges.contains {
          holds(Work(slot: slot), from: plan.edges[$0].from, pool)
        }
      }
      if held > 0 { places.append("'\(id)', which waits for partners (\(held))") }
      let kept = latests[node].reduce(0) { $0 + $1.count }
      if kept > 0 { places.append("'\(id)', which keeps the latest values (\(kept))") }
      let working = concurrency[node].works.count
      if working > 0 { places.append("'\(id)', which works or waits to hand on (\(working))") }
    }
    return places.isEmpty ? ["no stage that can be named"] : places
  }

  private func holds(_ work: Work, from node: Int, _ pool: Int) -> Bool {
    leases.pools(of: leases.output(of: node, work)).contains(pool)
  }
}
