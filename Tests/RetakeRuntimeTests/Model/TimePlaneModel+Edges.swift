// MARK: - Sources and edges

extension TimePlaneModel {
  /// If a block edge is full, or a blocking pool is empty, the frame is lost before capture, unless
  /// the source waits for a buffer. Then later frames wait for their turn, or are lost.
  func arrive(_ frame: Token, at node: Int, damage: String?) {
    guard let pool = nodes[node].pool, nodes[node].standing != nil else {
      return admit(Comer(frame: frame, damage: damage), at: node)
    }
    guard nodes[node].behind.count < pools[pool].driverFrames else {
      request(pool, isStalled: true)
      return say(node, frame, "lost reason=wait")
    }
    nodes[node].behind.append(Comer(frame: frame, damage: damage, isLate: true))
    say(node, frame, "wait reason=turn")
  }

  /// Captures a frame if no block edge is full and the pool has a buffer.
  ///
  /// - Parameter isServed: Whether it is this frame's turn to lease a free buffer.
  func admit(_ comer: Comer, at node: Int, isServed: Bool = false) {
    var frame = comer.frame
    frame.versions = nodes.map(\.swapped.count)
    let isFull = nodes[node].outs.contains { index in
      let edge = edges[index]
      guard edge.policy == .block, let capacity = edge.capacity else { return false }
      return edge.waiting.count + edge.onTheWay.count >= capacity
    }
    if isFull { return say(node, frame, "lost reason=queue") }
    let pool = nodes[node].pool
    // Free buffers are kept for the sources that stand still already.
    let isEmpty = pool.map { freeBuffers($0) <= (isServed ? 0 : standing(at: $0).count) } ?? false
    if isEmpty, let pool, pools[pool].policy == .block {
      // A frame that waited was counted when it began to.
      if !comer.isCounted { request(pool, isStalled: true) }
      guard let limit = pools[pool].wait else { return say(node, frame, "lost reason=pool") }
      return stand(comer, at: node, limit)
    }
    if comer.isLate { say(node, frame, "waited nanoseconds=\(current.time - frame.arrival)") }
    captured[frame.track, default: 0] += 1
    if let damage = comer.damage { return fail(frame, at: node, code: damage) }
    if let pool {
      if !comer.isCounted { request(pool, isStalled: isEmpty) }
      if isEmpty { return endWithoutBuffer(frame, at: node, pools[pool].policy) }
      frame.leases = newLease(of: pool)
    }
    emit(frame, from: node)
    if let pool { notePeak(of: pool) }
  }

  /// The end of a frame whose stage or source finds no buffer.
  func endWithoutBuffer(_ frame: Token, at node: Int, _ policy: PoolPolicy) {
    guard policy == .drop else { return fail(frame, at: node, code: "pool.empty") }
    say(node, frame, "drop reason=pool")
    end(frame, from: node, Ending(fate: "drop", reason: "pool", node: node))
  }

  func fail(_ token: Token, at node: Int, code: String) {
    sayFailure(token, at: node, code: code)
    end(token, from: node, Ending(fate: "fail", reason: code, node: node))
  }

  func sayFailure(_ token: Token, at node: Int, code: String) {
    say(node, token, "\(token.item < 0 ? "fail" : "itemFail") code=\(code)")
  }

  /// Offers a value to all outgoing edges, or to the chosen edges.
  func emit(_ token: Token, from node: Int, edges chosen: [Int]? = nil) {
    let outs = chosen ?? nodes[node].outs
    nodes[node].pending = outs.count
    for edge in outs {
      edges[edge].onTheWay.append(token)
      now(
        .delivery, edges[edge].to, token, port: edges[edge].port,
        .delivery(edge: edge, token))
    }
  }

  func offer(_ token: Token, on edge: Int) {
    let receiver = edges[edge].to
    if let capacity = edges[edge].capacity, edges[edge].waiting.count >= capacity {
      switch edges[edge].policy {
      case .block:
        say(receiver, token, "block")
        edges[edge].refused = token
        return
      case .dropNewest:
        say(receiver, token, "drop reason=queue")
        endAtEdge(token, edge, fate: "drop", reason: "queue")
        return release(edge)
      case .dropOldest:
        let oldest = edges[edge].waiting.removeFirst()
        say(receiver, oldest, "drop reason=queue")
        endAtEdge(oldest, edge, fate: "drop", reason: "queue")
      case .replace:
        let older = edges[edge].waiting.removeFirst()
        say(receiver, older, "supersede")
        endAtEdge(older, edge, fate: "supersede", reason: "-")
      }
    }
    accept(token, on: edge)
  }

  /// The sender is released first; then the receiver works on its queue.
  private func accept(_ token: Token, on edge: Int) {
    var accepted = token
    accepted.since = current.time
    say(edges[edge].to, token, "deliver")
    edges[edge].waiting.append(accepted)
    waitForBatch(accepted, at: edges[edge].to)
    release(edge)
    take(edges[edge].to)
  }

  /// An edge has accepted its sender's offer, or dropped it.
  private func release(_ edge: Int) {
    let sender = edges[edge].from
    if case .source = nodes[sender].role { return }
    nodes[sender].pending -= 1
    guard nodes[sender].pending == 0 else { return }
    if case .fork = nodes[sender].role { nodes[sender].nextItem += 1 }
    take(sender)
  }

  /// Removes a frame from a queue. A sender that is blocked by it may continue.
  func removeWaiting(_ edge: Int, at index: Int = 0) -> Token {
    let token = edges[edge].waiting.remove(at: index)
    if let refused = edges[edge].refused, !edges[edge].isUnblocking {
      edges[edge].isUnblocking = true
      now(.delivery, edges[edge].to, refused, port: edges[edge].port, .unblock(edge: edge))
    }
    return token
  }

  func unblock(_ edge: Int) {
    guard let refused = edges[edge].refused else { return }
    edges[edge].refused = nil
    edges[edge].isUnblocking = false
    say(edges[edge].to, refused, "unblock")
    accept(refused, on: edge)
  }

  /// Lets a node work when a frame is in its queue or an output was accepted.
  func take(_ node: Int) {
    switch nodes[node].role {
    case .source: break
    case .stage: leaveLanes(node)
    case .throttle, .sample, .route: passOn(node)
    case .join: advanceJoin(node)
    case .latest: advanceLatest(node)
    case .fork(let gather): handOut(node, to: gather)
    case .gather: advanceGather(node)
    case .sink(let hold): receive(node, hold)
    case .screen(let millihertz): receiveImages(node, millihertz)
    }
  }

  private func receive(_ node: Int, _ hold: Int64) {
    for edge in nodes[node].ins {
      while !edges[edge].waiting.isEmpty {
        let token = removeWaiting(edge)
        guard hold > 0 else { continue }
        nodes[node].holds.append(token)
        later(hold, .completion, node, token, .holdEnds(token))
      }
    }
  }
}

// MARK: - Endings

extension TimePlaneModel {
  /// Sends a tombstone down all paths after a node.
  func end(_ token: Token, from node: Int, _ ending: Ending, edges chosen: [Int]? = nil) {
    for edge in chosen ?? nodes[node].outs {
      now(
        .delivery, edges[edge].to, token, port: edges[edge].port, .tombstone(token, ending))
    }
  }

  /// A frame dropped at the edge of a sink or of a join's port ends there, otherwise after the
  /// receiver.
  private func endAtEdge(_ token: Token, _ edge: Int, fate: String, reason: String) {
    let receiver = edges[edge].to
    let ending = Ending(fate: fate, reason: reason, node: receiver)
    switch nodes[receiver].role {
    case .sink, .screen, .join, .latest, .gather:
      now(.delivery, receiver, token, port: edges[edge].port, .tombstone(token, ending))
    case .source, .stage, .throttle, .sample, .route, .fork: end(token, from: receiver, ending)
    }
  }

  func bury(_ token: Token, _ ending: Ending, at node: Int, port: Int) {
    switch nodes[node].role {
    case .sink, .screen:
      let id = nodes[ending.node].id
      say(node, token, "outcome fate=\(ending.fate) node=\(id) reason=\(ending.reason)")
    case .join: endPart(token, ending, at: node, port: port)
    case .latest where port > 0: break
    case .gather where token.item >= 0: gather(token, at: node)
    case .source, .stage, .throttle, .sample, .route, .latest, .fork, .gather:
      end(token, from: node, ending)
    }
  }
}
