import RetakeCore

extension Pipeline {
  /// Rejects a pool that has fewer buffers than one frame needs at the same time. With such a pool,
  /// at most the first frame would ever arrive.
  func checkPools(_ graph: GraphIndex, _ order: [Int]) throws {
    guard !pools.isEmpty else { return }
    let needs = PoolNeeds(graph: graph, order: order, pools: pools).needs
    for (index, pool) in pools.enumerated() {
      // An adaptive pool has to be large enough at its smallest, because heat or a shortage of
      // memory can reduce it to this size at any time.
      guard let need = needs[index], need.count > pool.fewest else { continue }
      let holders = need.holders.prefix(Self.holdersMax).map { graph.nodes[$0].id }
      let more = need.holders.count > Self.holdersMax ? " and others" : ""
      let has = pool.adaptive == nil ? "has" : "can come down to"
      throw PipelineError(
        .wrongValue(
          "the pool '\(pool.id)' \(has) \(pool.fewest) of the "
            + "\(counted(need.count, "buffer that is", "buffers that are")) held "
            + "at once at '\(graph.nodes[need.node].id)', by frames of "
            + "\(holders.joined(separator: ", "))\(more): no frame would ever arrive",
          advice: pool.adaptive == nil
            ? "Set the capacity of '\(pool.id)' to at least \(need.count)"
            : "Set min, thermalSize and memorySize of '\(pool.id)' to at least \(need.count)"),
        at: "/pools/\(index)/\(pool.adaptive == nil ? "capacity" : "adaptive")")
    }
  }

  /// The largest number of holders that a message names.
  private static var holdersMax: Int { 8 }
}
