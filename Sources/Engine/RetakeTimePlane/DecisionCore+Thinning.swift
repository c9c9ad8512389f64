import RetakeGraph

/// How a node thins out the frames that pass through it.
enum Thinning: Sendable {
  case throttle(ThrottleStateMachine)
  case sample(SampleStateMachine)

  init?(_ stage: AnyStage) {
    switch stage.body {
    case .throttle(let policy):
      self = .throttle(ThrottleStateMachine(framesPerSecond: policy))
    case .sample(let every): self = .sample(SampleStateMachine(every: every))
    default: return nil
    }
  }

  mutating func passes(at time: Int64) -> Bool {
    switch self {
    case .throttle(var machine):
      defer { self = .throttle(machine) }
      return machine.passes(at: time)
    case .sample(var machine):
      defer { self = .sample(machine) }
      return machine.passes()
    }
  }
}

extension DecisionCore {
  /// A throttle or sample takes a frame after its out edges have settled the previous frame.
  mutating func runThinning(_ node: Int, _ turn: inout EventContext) {
    guard let edge = plan.nodes[node].inEdge else { return }
    // Bounded: each turn removes a frame from a finite queue.
    while !offers[node].isHeld, let entry = take(from: edge) {
      // throttle-pass, sample-pass: by the time at which the edge accepted the frame, which may
      // have waited here while the output before was blocked.
      if thinnings[node]?.passes(at: entry.since) ?? true {
        turn.actions.append(.pass(node: node, slot: entry.work.slotIndex))
        passLeases(of: entry.work, through: node, from: edge)
        handOn(entry.work, from: node, &turn)
      } else {
        decide(.thin, node: node, entry.work)
        bury(entry.work, fate: .throttled(by: plan.nodes[node].stage.signature.kind), node: node)
        endToken(entry.work.slotIndex, &turn)
      }
      releaseValue(on: edge, entry.work)
    }
  }

  /// A route sends a frame to one of its ports, and its tombstone to the others.
  mutating func runRoute(_ node: Int, _ turn: inout EventContext) {
    guard let edge = plan.nodes[node].inEdge else { return }
    // Bounded: each turn removes a frame from a finite queue.
    while !offers[node].isHeld, let entry = take(from: edge) {
      let work = entry.work
      turn.actions.append(.pass(node: node, slot: work.slotIndex))
      passLeases(of: work, through: node, from: edge)
      // route-port: a gate, so virtual time waits here for the value that chooses.
      let chosen = turn.gates.port(node: node, slot: work.slotIndex)
      let outEdges = plan.nodes[node].outEdges
      thin(work, at: node, edges: outEdges.filter { plan.edges[$0].fromPort != chosen })
      let taken = outEdges.filter { plan.edges[$0].fromPort == chosen }
      // offer-each-edge: only the edges of the chosen port have to settle the frame.
      offers[node].offer(to: taken.count)
      for edge in taken { offer(edge: edge, work) }
      releaseValue(on: edge, work)
      endToken(work.slotIndex, &turn)
    }
  }

  private mutating func thin(_ work: Work, at node: Int, edges: [Int]) {
    guard !edges.isEmpty else { return }
    let stage = plan.nodes[node].stage
    // route-port: one line for each port, not for each edge; sorted, because a Set has no order.
    for port in Set(edges.map { plan.edges[$0].fromPort }).sorted() {
      decide(.thin, node: node, work, .port(stage.outputPorts[port]))
    }
    let ending = endings.add(.throttled(by: stage.signature.kind), node: node)
    for edge in edges { sendTombstone(along: edge, work, ending: ending) }
  }
}
