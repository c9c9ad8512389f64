/// The servers of one executor.
package struct ServiceStateMachine: Hashable, Sendable {
  package private(set) var freeServers: Int
  /// Whether a dispatch event for this executor is queued. There is at most one per microstep.
  private var isDispatchPending = false

  package init(servers: Int) {
    precondition(servers > 0, "an executor has servers")
    freeServers = servers
  }

  /// - Returns: Whether the caller has to schedule the dispatch.
  package mutating func requestDispatch() -> Bool {
    guard !isDispatchPending else { return false }
    isDispatchPending = true
    return true
  }

  package mutating func beginDispatch() { isDispatchPending = false }

  package mutating func take() {
    precondition(freeServers > 0, "a server is taken only when it is free")
    freeServers -= 1
  }

  package mutating func release() { freeServers += 1 }
}

/// The output that a node offers now. It offers one at a time, until every edge has accepted or
/// dropped it.
package struct OfferStateMachine: Hashable, Sendable {
  private var open = 0
  private var isReserved = false

  package init() {}

  /// Whether an output is being made, or some edges have not settled it yet.
  package var isHeld: Bool { open > 0 || isReserved }

  /// The node has taken the input of its next output, which it offers later in this instant.
  package mutating func reserve() {
    precondition(!isHeld, "a node makes one output at a time")
    isReserved = true
  }

  package mutating func offer(to edges: Int) {
    precondition(open == 0, "a node offers one output at a time")
    open = edges
    isReserved = false
  }

  /// One edge took, dropped or replaced the output; `true` if it was the last edge.
  package mutating func settle() -> Bool {
    precondition(open > 0, "only what was offered is settled")
    // offer-each-edge: edges settle in any order; only the last one matters.
    open -= 1
    return open == 0
  }
}
