// MARK: - Throttle, sample, route

extension TimePlaneModel {
  /// Passes a frame on when all edges have accepted the previous frame.
  func passOn(_ node: Int) {
    let edge = nodes[node].ins[0]
    while nodes[node].pending == 0, !edges[edge].waiting.isEmpty {
      let token = removeWaiting(edge)
      switch nodes[node].role {
      case .throttle:
        if passes(token.since, nodes[node].interval, at: node) {
          emit(token, from: node)
        } else {
          thin(token, at: node, "throttle")
        }
      case .sample(let count):
        nodes[node].seen += 1
        if (nodes[node].seen - 1) % count == 0 {
          emit(token, from: node)
        } else {
          thin(token, at: node, "sample")
        }
      case .route(let ports, let choices): route(token, at: node, ports, choices)
      default: preconditionFailure("only these pass a frame on")
      }
    }
  }

  private func passes(_ time: Int64, _ interval: Int64, at node: Int) -> Bool {
    guard interval > 0 else { return true }
    var due = nodes[node].due ?? time
    let passes = 4 * (due - time) <= interval
    if passes {
      due += interval
      if time >= due + interval { due = time + interval }
    }
    nodes[node].due = due
    return passes
  }

  private func thin(_ token: Token, at node: Int, _ kind: String) {
    say(node, token, "thin")
    end(token, from: node, Ending(fate: "thin", reason: kind, node: node))
  }

  private func route(_ token: Token, at node: Int, _ ports: [String], _ choices: [Int]) {
    let choice = token.value.leading.map { choices[$0 % choices.count] } ?? 0
    for port in ports.indices where port != choice {
      let outs = nodes[node].outs.filter { edges[$0].fromPort == port }
      guard !outs.isEmpty else { continue }
      say(node, token, "thin port=\(ports[port])")
      end(token, from: node, Ending(fate: "thin", reason: "route", node: node), edges: outs)
    }
    emit(token, from: node, edges: nodes[node].outs.filter { edges[$0].fromPort == choice })
  }
}

// MARK: - The device and swaps

extension TimePlaneModel {
  /// An event of the device, in band 0. Its effects at the same instant run in band 1.
  func addHeat(_ level: Int, time: Int64, ordinal: Int) {
    plan(Key(time: time, band: 0, phase: .control, node: -1, ordinal: ordinal), .heat(level))
  }

  /// Like events of the device, swaps at one instant begin in the order in which they are listed.
  func addSwap(_ node: Int, time: Int64, _ swap: Swap) {
    plan(
      Key(time: time, band: 0, phase: .control, node: -1, ordinal: swap.ordinal),
      .prepareSwap(node: node, swap))
  }

  func setHeat(_ level: Int) {
    guard !isUnbounded else { return }
    heat = level
    for node in nodes.indices {
      guard case .throttle(let limits) = nodes[node].role, limits.count > 1 else { continue }
      plan(
        Key(time: current.time, band: 1, phase: .control, node: node, ordinal: current.ordinal),
        .rate)
    }
    for (pool, sizing) in adaptivePools where level >= 2 {
      planPressure(on: pool, Wish(reason: "thermal", size: sizing.thermalSize))
    }
  }

  /// An event about memory, in band 0 like one about heat; 1 is a warning.
  func addMemory(_ level: Int, time: Int64, ordinal: Int) {
    plan(Key(time: time, band: 0, phase: .control, node: -1, ordinal: ordinal), .memory(level))
  }

  func setMemory(_ level: Int) {
    for (pool, sizing) in adaptivePools where level >= 1 {
      planPressure(on: pool, Wish(reason: "memory", size: sizing.memorySize))
    }
  }

  func decideRate(_ node: Int) {
    guard case .throttle(let limits) = nodes[node].role else { return }
    let (old, new) = (nodes[node].interval, Node.interval(of: limits, heat: heat))
    guard old != new else { return }
    nodes[node].interval = new
    if old == 0 || new == 0 {
      nodes[node].due = nil
    } else if let due = nodes[node].due {
      nodes[node].due = due + new - old
    }
    say(node, "throttle interval=\(new)")
  }

  /// Preparing is a cost like others; `every-frame` has no costs.
  func prepare(_ swap: Swap, at node: Int) {
    say(node, "swapPrepare")
    plan(
      Key(
        time: current.time + (isUnbounded ? 0 : swap.preparing), band: 1, phase: .control,
        node: node, ordinal: swap.ordinal), .swap(swap))
  }

  /// The epoch counts the swaps of all nodes that are in force.
  func decide(_ swap: Swap, at node: Int) {
    if let code = swap.refusal { return say(node, "swapRefused code=\(code)") }
    nodes[node].swapped.append(swap.stage)
    say(node, "swap epoch=\(nodes.reduce(0) { $0 + $1.swapped.count })")
  }
}
