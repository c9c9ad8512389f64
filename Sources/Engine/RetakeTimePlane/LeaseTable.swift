package import RetakeGraph

/// The holders of the pools' buffers. A lease ends with its last holder.
package struct LeaseTable: Sendable {
  package struct Lease: Hashable, Sendable {
    package var pool: Int
    package var holders = 0
    /// The frame that it was taken for.
    package var slot = 0
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
  /// Outputs without a holder, in the order in which they lost the last one.
  private var ended: [EndedOutput] = []
  private let notesEnds: Bool

  /// - Parameter notesEnds: Whether the owner calls `takeEnded`.
  package init(pools: [PipelinePool], notesEnds: Bool = false) {
    self.notesEnds = notesEnds
    capacities = pools.map(\.capacity)
    used = pools.map { _ in 0 }
  }

  package func isEmpty(pool: Int) -> Bool { used[pool] >= capacities[pool] }
  /// Below 0 if the pool has become smaller than the number of leased buffers.
  package func free(pool: Int) -> Int { capacities[pool] - used[pool] }
  package func inUse(pool: Int) -> Int { used[pool] }
  package func capacity(of pool: Int) -> Int { capacities[pool] }

  /// Changes the size of a pool. If it shrinks, excess buffers disappear when they are returned.
  package mutating func setCapacity(_ capacity: Int, of pool: Int) { capacities[pool] = capacity }

  /// Leases a buffer for a node's output. The node holds it.
  package mutating func lease(pool: Int, slot: Int = 0) -> Int {
    precondition(!isEmpty(pool: pool), "a pool never gives more buffers than it has")
    used[pool] += 1
    if let free = freeLeases.popLast() {
      leases[free] = Lease(pool: pool, slot: slot)
      return free
    }
    leases.append(Lease(pool: pool, slot: slot))
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
      noteEnd(of: lease)
      freeLeases.append(lease)
    }
    return returned
  }

  /// All outputs of the frame that use the buffer have no holder: each holds all of its buffers.
  private mutating func noteEnd(of lease: Int) {
    let slot = leases[lease].slot
    guard notesEnds, outputs.indices.contains(slot) else { return }
    for output in outputs[slot] where output.leases.contains(lease) {
      ended.append(EndedOutput(slot: slot, node: output.node, item: output.item))
    }
  }

  /// The outputs that lost their last holder since the last call. Their values are not read any
  /// more.
  package mutating func takeEnded() -> [EndedOutput] {
    if ended.isEmpty { return [] }
    defer { ended.removeAll(keepingCapacity: true) }
    return ended
  }

  package func pools(of held: [Int]) -> [Int] { held.map { leases[$0].pool } }

  /// Forgets a freed frame.
  package mutating func clear(slot: Int) {
    if outputs.indices.contains(slot) { outputs[slot] = [] }
  }
}

/// The output of a node for a frame, or for an item of it, without a holder.
package struct EndedOutput: Hashable, Sendable {
  package var slot: Int
  package var node: Int
  package var item: Int32

  package var work: Work { item < 0 ? Work(slot: slot) : Work(slot: slot, item: Int(item)) }
}
