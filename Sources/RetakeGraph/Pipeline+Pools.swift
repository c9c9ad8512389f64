import RetakeCore

extension Pipeline {
  /// Refuses a pool that has fewer buffers than one frame needs at once on its way: no frame, or
  /// none but the first, would ever arrive.
  func checkPools(_ graph: GraphIndex, _ order: [Int]) throws(PipelineError) {
    guard !pools.isEmpty else { return }
    let needs = PoolNeeds(graph: graph, order: order, pools: pools).needs
    for (index, pool) in pools.enumerated() {
      guard let need = needs[index], need.count > pool.capacity else { continue }
      let holders = need.holders.prefix(Self.holdersMax).map { graph.nodes[$0].id }
      let more = need.holders.count > Self.holdersMax ? " and others" : ""
      throw PipelineError(
        .wrongValue(
          "the pool '\(pool.id)' has \(pool.capacity) of the \(need.count) buffers that are held "
            + "at once at '\(graph.nodes[need.node].id)', by frames of "
            + "\(holders.joined(separator: ", "))\(more): nothing would ever arrive",
          advice: "Give '\(pool.id)' a capacity of at least \(need.count)"),
        at: "/pools/\(index)/capacity")
    }
  }

  /// The most holders that a message names.
  private static var holdersMax: Int { 8 }
}
