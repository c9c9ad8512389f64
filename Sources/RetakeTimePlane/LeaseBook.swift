package import RetakeGraph

/// The holders of the pools' buffers. A lease ends with its last holder.
package struct LeaseBook: Sendable {
  package struct Lease: Hashable, Sendable {
    package var pool: Int
    package var holders = 0
  }

  /// The leases that one node's output for a frame uses.
  private struct Output: Sendable {
    var node: Int
    var item: Int32
    var leases: [Int]
  }

  private var capacities: [Int]
  private var used: [Int]
  private var leases: [Lease] = []
  private var freeLeases: [Int] = []
  /// By slot.
  private var outputs: [[Output]] = []

  package init(pools: [PipelinePool]) {
    capacities = pools.map(\.capacity)
    used = pools.map { _ in 0 }
  }

  package func isEmpty(pool: Int) -> Bool { used[pool] >= capacities[pool] }
  package func inUse(pool: Int) -> Int { used[pool] }
  package func capacity(of pool: Int) -> Int { capacities[pool] }

  /// Changes the size of a pool. If it shrinks, excess buffers disappear when they are returned.
  package mutating func setCapacity(_ capacity: Int, of pool: Int) { capacities[pool] = capacity }

  /// Takes a buffer for a node's output. The node holds it.
  package mutating func lease(pool: Int) -> Int {
    precondition(!isEmpty(pool: pool), "a pool never gives more buffers than it has")
    used[pool] += 1
    if let free = freeLeases.popLast() {
      leases[free] = Lease(pool: pool)
      return free
    }
    leases.append(Lease(pool: pool))
    return leases.count - 1
  }

  /// Sets the leases that a node's output uses.
  package mutating func setOutput(_ found: [Int], of node: Int, _ work: Work) {
    while outputs.count <= work.slotIndex { outputs.append([]) }
    let slot = work.slotIndex
    if let index = outputs[slot].firstIndex(where: { $0.node == node && $0.item == work.item }) {
      outputs[slot][index].leases = found
    } else if !found.isEmpty {
      outputs[slot].append(Output(node: node, item: work.item, leases: found))
    }
  }

  package func output(of node: Int, _ work: Work) -> [Int] {
    guard outputs.indices.contains(work.slotIndex) else { return [] }
    return outputs[work.slotIndex].first { $0.node == node && $0.item == work.item }?.leases ?? []
  }

  package mutating func retain(_ held: [Int]) {
    for lease in held { leases[lease].holders += 1 }
  }

  /// - Returns: The pools to which a buffer was returned.
  package mutating func release(_ held: [Int]) -> [Int] {
    var returned: [Int] = []
    for lease in held {
      precondition(leases[lease].holders > 0, "a lease ends once")
      leases[lease].holders -= 1
      // pool-holders: the buffer comes back with its last holder.
      guard leases[lease].holders == 0 else { continue }
      used[leases[lease].pool] -= 1
      returned.append(leases[lease].pool)
      freeLeases.append(lease)
    }
    return returned
  }

  package func pools(of held: [Int]) -> [Int] { held.map { leases[$0].pool } }

  /// Forgets a freed frame.
  package mutating func clear(slot: Int) {
    if outputs.indices.contains(slot) { outputs[slot] = [] }
  }
}
