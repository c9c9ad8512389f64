// MARK: - Servers

extension TimePlaneModel {
  /// One dispatch event per executor and microstep, with the key of its first node.
  func planDispatches() {
    for executor in servers.indices
    where !isDispatchPlanned(executor)
      && (nextWork(executor) != nil || !newStalls(executor).isEmpty)
    {
      let first = nodes.indices.first { stage($0)?.executor == executor } ?? 0
      now(
        .dispatch, first, Token(track: 0, sequence: -1, arrival: 0),
        .dispatch(executor: executor))
    }
  }

  func dispatch(_ executor: Int) {
    while let work = nextWork(executor), let stage = stage(work.node) {
      let edge = nodes[work.node].ins[0]
      // A frame still holds its own buffers when it requests the next one.
      let emptyPool = nodes[work.node].pool.flatMap { freeBuffers($0) <= 0 ? $0 : nil }
      let token = removeWaiting(edge, at: work.index)
      if let emptyPool {
        request(emptyPool, isStalled: true)
        endWithoutBuffer(token, at: work.node, pools[emptyPool].policy)
      } else {
        start([token] + others(of: stage, edge), at: work.node, stage)
      }
    }
    for node in newStalls(executor) {
      nodes[node].isStalled = true
      if let pool = nodes[node].pool { request(pool, isStalled: true) }
    }
  }

  /// The frames that a stage takes after the first of a batch.
  private func others(of stage: Stage, _ edge: Int) -> [Token] {
    var tokens: [Token] = []
    while tokens.count + 1 < stage.batch, !edges[edge].waiting.isEmpty {
      let next = edges[edge].waiting.indices.min {
        let (left, right) = (edges[edge].waiting[$0], edges[edge].waiting[$1])
        if left.arrival != right.arrival { return left.arrival < right.arrival }
        return left.order.lexicographicallyPrecedes(right.order)
      }
      tokens.append(removeWaiting(edge, at: next ?? 0))
    }
    return tokens
  }

  private func start(_ tokens: [Token], at node: Int, _ stage: Stage) {
    servers[stage.executor] -= 1
    nodes[node].batches += 1
    for token in tokens {
      nodes[node].concurrency.append(
        Lane(
          input: token, own: nodes[node].pool.map { newLease(of: $0) } ?? [],
          batch: nodes[node].batches))
    }
    if let pool = nodes[node].pool {
      // A stage that found no buffer was counted then.
      if !nodes[node].isStalled { request(pool, isStalled: false) }
      nodes[node].isStalled = false
      notePeak(of: pool)
    }
    let words = stage.batch > 1 ? "start batch=\(tokens.count)" : "start"
    for token in tokens { say(node, token, words) }
    let name = FrameItem(sequence: tokens[0].sequence, item: tokens[0].item)
    var cost = body(of: node, for: tokens[0]).costs[name] ?? 0
    if stage.batch > 1 { cost += Int64(tokens.count) * stage.costPerFrame }
    for token in tokens {
      if cost == 0 {
        now(.completion, node, token, .completion(token))
      } else {
        later(cost, .completion, node, token, .completion(token))
      }
      if !isUnbounded, let timeout = stage.timeout, cost > timeout {
        later(timeout, .control, node, token, .timer(token))
      }
    }
  }

  /// From its acceptance on, a frame waits for a batch to fill.
  func waitForBatch(_ token: Token, at node: Int) {
    guard let stage = stage(node), stage.batch > 1, stage.batchWait > 0 else { return }
    later(stage.batchWait, .control, node, token, ordinal: 1, .waited(token))
  }

  func endBatchWait(_ node: Int) {
    guard let stage = stage(node) else { return }
    nodes[node].batchDue = current.time - stage.batchWait
  }

  private func hasBatch(_ node: Int, _ stage: Stage) -> Bool {
    let waiting = edges[nodes[node].ins[0]].waiting
    guard stage.batch > 1, stage.batchWait > 0, let first = waiting.first else { return true }
    return waiting.count >= stage.batch || first.since <= nodes[node].batchDue
  }

  private func hasFreeSlot(_ node: Int, _ stage: Stage) -> Bool {
    Set(nodes[node].concurrency.map(\.batch)).count < stage.concurrency
  }

  /// The waiting frame that a free server works on next.
  private func nextWork(_ executor: Int) -> (node: Int, index: Int)? {
    guard servers[executor] > 0 else { return nil }
    var work: [(node: Int, index: Int)] = []
    for node in nodes.indices where isReady(node, executor) {
      work += edges[nodes[node].ins[0]].waiting.indices.map { (node, $0) }
    }
    return work.min { left, right in
      let (a, b) = (waiting(left), waiting(right))
      // Earliest arrival, track, sequence, deepest rank, id, item.
      if a.arrival != b.arrival { return a.arrival < b.arrival }
      let (rank, other) = (nodes[left.node].rank, nodes[right.node].rank)
      if (a.track, a.sequence, -rank) != (b.track, b.sequence, -other) {
        return (a.track, a.sequence, -rank) < (b.track, b.sequence, -other)
      }
      return (left.node, a.item) < (right.node, b.item)
    }
  }

  /// The stages that a free server would serve now if their pool had a buffer, and that were not
  /// counted yet.
  private func newStalls(_ executor: Int) -> [Int] {
    guard servers[executor] > 0 else { return [] }
    return nodes.indices.filter { node in
      guard let stage = stage(node), stage.executor == executor, !nodes[node].isStalled,
        hasFreeSlot(node, stage),
        !edges[nodes[node].ins[0]].waiting.isEmpty,
        let pool = nodes[node].pool, pools[pool].sizing != nil, pools[pool].policy == .block
      else { return false }
      return freeBuffers(pool) <= 0
    }
  }

  private func waiting(_ work: (node: Int, index: Int)) -> Token {
    edges[nodes[work.node].ins[0]].waiting[work.index]
  }

  private func isReady(_ node: Int, _ executor: Int) -> Bool {
    guard let stage = stage(node), stage.executor == executor, hasFreeSlot(node, stage),
      hasBatch(node, stage)
    else { return false }
    guard let pool = nodes[node].pool, pools[pool].policy == .block else { return true }
    return freeBuffers(pool) > 0
  }

  private func stage(_ node: Int) -> Stage? {
    guard case .stage(let stage) = nodes[node].role else { return nil }
    return stage
  }

  /// The stage that was in force when the frame arrived.
  private func body(of node: Int, for token: Token) -> Stage {
    guard let own = stage(node) else { preconditionFailure("only stages are served") }
    let version = token.versions[node]
    return version == 0 ? own : nodes[node].swapped[version - 1]
  }
}

// MARK: - Concurrency

extension TimePlaneModel {
  func complete(_ token: Token, at node: Int) {
    guard let stage = stage(node), let slot = slot(of: token, at: node) else { return }
    nodes[node].concurrency[slot].isBodyRunning = false
    let batch = nodes[node].concurrency[slot].batch
    let isShared = nodes[node].concurrency.contains { $0.batch == batch && $0.isBodyRunning }
    if !isShared { servers[stage.executor] += 1 }
    if nodes[node].concurrency[slot].hasTimedOut {
      say(node, token, "late")
      return closeLanes(node)
    }
    let name = FrameItem(sequence: token.sequence, item: token.item)
    let code = ModelCase.failureCode
    let body = body(of: node, for: token)
    switch body.failures[name] {
    case nil:
      say(node, token, "done")
      nodes[node].concurrency[slot].state = .finished(
        output(of: nodes[node].concurrency[slot], body))
      leaveLanes(node)
    case .recoverable:
      failLane(slot, at: node, code: code)
    case .unrecoverable:
      sayFailure(token, at: node, code: code)
      now(.control, node, token, .halt(token, code: code))
    }
  }

  func timeOut(_ token: Token, at node: Int) {
    if case .join = nodes[node].role { return timeOutJoin(token, at: node) }
    guard let slot = slot(of: token, at: node) else { return }
    say(node, token, "timeout")
    nodes[node].concurrency[slot].hasTimedOut = true
    failLane(slot, at: node, code: "timeout")
  }

  private func failLane(_ slot: Int, at node: Int, code: String) {
    let token = nodes[node].concurrency[slot].input
    if stage(node)?.hasFallback == true {
      sayFailure(token, at: node, code: code)
      let ending = Ending(fate: "fail", reason: code, node: node)
      nodes[node].concurrency[slot].state = .replaceable(ending)
    } else {
      fail(token, at: node, code: code)
      nodes[node].concurrency[slot].state = .ended
    }
    leaveLanes(node)
  }

  /// The lowest finished frame leaves when no lower one is open and all edges have accepted the
  /// previous output.
  func leaveLanes(_ node: Int) {
    closeLanes(node)
    while nodes[node].pending == 0 {
      closeLanes(node)
      let order = nodes[node].concurrency.indices.sorted {
        nodes[node].concurrency[$0].input.order.lexicographicallyPrecedes(
          nodes[node].concurrency[$1].input.order)
      }
      let next = order.first {
        switch nodes[node].concurrency[$0].state {
        case .working, .finished, .replaceable: true
        case .left, .ended: false
        }
      }
      guard let next else { return }
      switch nodes[node].concurrency[next].state {
      case .finished(let output):
        nodes[node].lastOrigin = output.name
        leave(output, slot: next, at: node)
      case .replaceable(let ending): replace(slot: next, at: node, ending)
      case .working, .left, .ended: return
      }
    }
  }

  private func leave(_ output: Token, slot: Int, at node: Int) {
    nodes[node].concurrency[slot].state = .left
    if stage(node)?.hasFallback == true { nodes[node].lastLeft = output }
    emit(output, from: node)
  }

  private func replace(slot: Int, at node: Int, _ ending: Ending) {
    let frame = nodes[node].concurrency[slot].input
    guard let last = nodes[node].lastLeft else {
      nodes[node].concurrency[slot].state = .ended
      return end(frame, from: node, ending)
    }
    say(node, frame, "fallback from=\(nodes[node].lastOrigin)")
    var output = frame
    output.value = last.value
    output.leases = last.leases
    leave(output, slot: slot, at: node)
  }

  /// A slot is free when the body has ended and the output, if any, has been accepted.
  private func closeLanes(_ node: Int) {
    let hasLeft = nodes[node].pending == 0
    nodes[node].concurrency.removeAll { slot in
      guard !slot.isBodyRunning else { return false }
      switch slot.state {
      case .left: return hasLeft
      case .ended: return true
      case .working, .finished, .replaceable: return false
      }
    }
    guard hasLeft else { return }
    for slot in nodes[node].concurrency.indices {
      if case .left = nodes[node].concurrency[slot].state {
        nodes[node].concurrency[slot].state = .ended
      }
    }
  }

  private func output(of slot: Lane, _ stage: Stage) -> Token {
    var output = slot.input
    let sequence = slot.input.sequence
    switch stage.makes {
    case .detections:
      output.value = .detections(sequence, count: stage.counts[sequence % stage.counts.count])
    case .scalars, .classes: output.value = .other(sequence)
    }
    output.leases = slot.own.union(stage.keepsInput ? slot.input.leases : [])
    return output
  }

  private func slot(of token: Token, at node: Int) -> Int? {
    nodes[node].concurrency.firstIndex { $0.input.order == token.order }
  }
}
