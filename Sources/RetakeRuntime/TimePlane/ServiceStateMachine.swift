/// The servers of one executor.
package struct ServiceStateMachine: Hashable, Sendable {
  package private(set) var freeServers: Int
  /// Whether a dispatch event for this executor waits in the queue: there is one a microstep.
  package var isDispatchPending = false

  package init(servers: Int) {
    precondition(servers > 0, "an executor has servers")
    freeServers = servers
  }

  package mutating func take() {
    precondition(freeServers > 0, "a server is taken only when it is free")
    freeServers -= 1
  }

  package mutating func release() { freeServers += 1 }
}

/// One node's lane: held from the start of service until every out edge has settled the output.
package struct LaneStateMachine: Hashable, Sendable {
  package private(set) var isHeld = false
  private var offersOpen = 0

  package init() {}

  package mutating func hold() {
    precondition(!isHeld, "a lane serves one frame at a time")
    isHeld = true
  }

  /// The output is offered to so many edges.
  package mutating func offer(to edges: Int) {
    offersOpen = edges
    if edges == 0 { isHeld = false }
  }

  /// One edge took, dropped or superseded the output; `true` when that frees the lane.
  package mutating func settleOffer() -> Bool {
    precondition(offersOpen > 0, "only what was offered is settled")
    offersOpen -= 1
    if offersOpen == 0 { isHeld = false }
    return !isHeld
  }

  /// The body gave nothing to offer.
  package mutating func release() { isHeld = false }
}
