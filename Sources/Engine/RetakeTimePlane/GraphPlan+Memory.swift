package import RetakeBuffers
import RetakeGraph

extension GraphPlan {
  /// The memory of a run's frames: the memory of its pools, and one more memory for nodes without a
  /// pool.
  package func memory(isVirtual: Bool, isPoisoned: Bool = false) -> RunMemory {
    var poolOfNode: [String: Int] = [:]
    for node in nodes { poolOfNode[node.id] = node.pool }
    return RunMemory(
      pools: pools.map { ($0.id, $0.capacity) }, poolOfNode: poolOfNode,
      RunMemory.Options(
        isVirtual: isVirtual, isPoisoned: isPoisoned,
        isShared: nodes.contains { $0.stage.signature.kind == AnyStage.processKind }))
  }

  /// Makes the memory of the pools that have it before the first frame.
  ///
  /// - Parameter tracks: By source node.
  package func preallocate(
    _ memory: RunMemory, for tracks: [Int: TrackDescription], isLive: Bool
  ) {
    for entry in preallocations(of: tracks, countsSources: isLive) {
      memory.pools[entry.pool].preallocate(entry.layouts)
    }
  }

  /// The buffers of the pools that the sources lease from; `nil` if a source has no pool.
  package var sourceBuffers: Int? {
    let leased = sources.map { nodes[$0].pool }
    guard !leased.contains(nil) else { return nil }
    return pools.indices.filter { leased.contains($0) }.reduce(0) { $0 + pools[$1].capacity }
  }
}

extension RunMemory {
  /// Resizes adaptive pools to the sizes that the core has decided on.
  package func follow(_ core: borrowing DecisionCore) {
    for (index, pool) in pools.enumerated() {
      let size = core.size(ofPool: index)
      if size > 0, size != pool.size { pool.resize(to: size) }
    }
  }
}
