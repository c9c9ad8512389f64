/// The rules of the time plane once more, written from their text alone: slow, simple, and sharing
/// nothing with the engine but the numbers that a case draws for its costs.
///
/// For one line of nodes: a source, any mix of stages and throttles, a sink. Nodes are named by
/// their place in the line, which is also their rank.
final class TimePlaneModel {
  struct Frame {
    var sequence: Int
    var time: Int64
    /// The code with which the frame fails at the source.
    var damage: String?
  }

  enum Policy { case block, dropNewest, dropOldest, replace }
  enum Failure { case recoverable, unrecoverable }

  enum Role {
    case source, sink
    /// Cost by sequence, failing sequences, index of the executor.
    case stage(cost: [Int64], failures: [Int: Failure], executor: Int)
    /// Nanoseconds between frames.
    case throttle(interval: Int64)
  }

  struct Node {
    var id: String
    var role: Role
    /// The queue in front; nil capacity = unbounded.
    var capacity: Int?
    var policy: Policy
    var waiting: [Waiting] = []
    /// The frame that the node before keeps, because there is no room here.
    var refused: Waiting?
    var isUnblocking = false
    /// Whether something has left the queue in front that still belongs to this node: a lane in
    /// service, or an output that the next edge has not accepted.
    var isTaken = false
    var due: Int64?
  }

  /// A frame with the time of its arrival at the source and at the node where it waits.
  struct Waiting {
    var frame: Frame
    var since: Int64 = 0
  }

  /// `(time, band, microstep, phase, node, track, sequence, item, ordinal)`.
  typealias Key = [Int64]

  enum Phase: Int64 { case arrival, completion, control, delivery, dispatch }

  enum Happening {
    case arrival(Frame)
    case completion(Frame)
    case halt(Frame, code: String)
    case delivery(Frame)
    case unblock
    case tombstone(Frame, fate: String, node: Int, reason: String)
    case dispatch(executor: Int)
  }

  var nodes: [Node]
  var freeServers: [Int]
  private(set) var lines: [String] = []
  private var agenda: [(key: Key, node: Int, what: Happening)] = []
  private var current: Key = []
  private var onTheWay = 0
  private var isHalted = false

  init(nodes: [Node], servers: [Int], arrivals: [Frame]) {
    self.nodes = nodes
    freeServers = servers
    for frame in arrivals {
      let key: Key = [
        frame.time, 2, 0, Phase.arrival.rawValue, 0, 0, Int64(frame.sequence), -1, 0,
      ]
      agenda.append((key, 0, .arrival(frame)))
    }
  }

  func run() -> [String] {
    while !isHalted, let next = agenda.indices.min(by: { less(agenda[$0].key, agenda[$1].key) }) {
      let event = agenda.remove(at: next)
      precondition(current.isEmpty || less(current, event.key), "keys strictly increase")
      current = event.key
      handle(event.what, at: event.node)
    }
    return lines
  }

  private func less(_ left: Key, _ right: Key) -> Bool { left.lexicographicallyPrecedes(right) }

  private func say(_ node: Int, _ frame: Frame, _ words: String) {
    lines.append("@\(current[0]) \(nodes[node].id) 0:\(frame.sequence) \(words)")
  }

  /// An event for the current instant keeps band and microstep if its key is larger, else it takes
  /// the next microstep.
  private func now(_ phase: Phase, _ node: Int, _ sequence: Int, _ what: Happening) {
    var key: Key = [
      current[0], current[1], current[2], phase.rawValue, Int64(node), 0, Int64(sequence), -1, 0,
    ]
    if !less(current, key) { key[2] += 1 }
    agenda.append((key, node, what))
  }

  private func handle(_ what: Happening, at node: Int) {
    switch what {
    case .arrival(let frame): arrive(frame)
    case .completion(let frame): complete(frame, at: node)
    case .halt(let frame, let code):
      say(node, frame, "halt code=\(code)")
      isHalted = true
    case .delivery(let frame):
      if node == 1 { onTheWay -= 1 }
      offer(Waiting(frame: frame), at: node)
    case .unblock: unblock(node)
    case .tombstone(let frame, let fate, let origin, let reason):
      bury(frame, at: node, fate: fate, origin: origin, reason: reason)
    case .dispatch(let executor): dispatch(executor)
    }
  }
}

// MARK: - Sources and edges

extension TimePlaneModel {
  /// A live source does not wait: with a full block edge the frame is lost before capture.
  private func arrive(_ frame: Frame) {
    if nodes[1].policy == .block, let capacity = nodes[1].capacity,
      nodes[1].waiting.count + onTheWay >= capacity
    {
      return say(0, frame, "lost reason=queue")
    }
    if let code = frame.damage {
      say(0, frame, "fail code=\(code)")
      return now(
        .delivery, 1, frame.sequence, .tombstone(frame, fate: "fail", node: 0, reason: code))
    }
    onTheWay += 1
    now(.delivery, 1, frame.sequence, .delivery(frame))
  }

  private func offer(_ offered: Waiting, at node: Int) {
    if let capacity = nodes[node].capacity, nodes[node].waiting.count >= capacity {
      switch nodes[node].policy {
      case .block:
        say(node, offered.frame, "block")
        nodes[node].refused = offered
        return
      case .dropNewest:
        say(node, offered.frame, "drop reason=queue")
        end(offered.frame, after: node, fate: "drop", reason: "queue")
        return leave(node - 1)
      case .dropOldest:
        let oldest = nodes[node].waiting.removeFirst().frame
        say(node, oldest, "drop reason=queue")
        end(oldest, after: node, fate: "drop", reason: "queue")
      case .replace:
        let older = nodes[node].waiting.removeFirst().frame
        say(node, older, "supersede")
        end(older, after: node, fate: "supersede", reason: "-")
      }
    }
    accept(offered, at: node)
  }

  private func accept(_ frame: Waiting, at node: Int) {
    say(node, frame.frame, "deliver")
    nodes[node].waiting.append(Waiting(frame: frame.frame, since: current[0]))
    // The text is silent on which of the two comes first: the sender is released, then the
    // receiver takes. Only two throttles in a row can tell.
    leave(node - 1)
    take(node)
  }

  /// What a frame in the queue, or a free lane, lets a node do.
  private func take(_ node: Int) {
    switch nodes[node].role {
    case .source: break
    case .sink: nodes[node].waiting.removeAll()
    case .throttle(let interval): thin(node, interval)
    case .stage(_, _, let executor): wantDispatch(executor)
    }
  }

  /// The output of a node has been accepted, or is no more: the node is free for the next.
  private func leave(_ node: Int) {
    nodes[node].isTaken = false
    take(node)
  }

  /// A slot in front of the node is free: whoever waits before it may go on.
  private func slotFreed(_ node: Int) {
    guard let refused = nodes[node].refused, !nodes[node].isUnblocking else { return }
    nodes[node].isUnblocking = true
    now(.delivery, node, refused.frame.sequence, .unblock)
  }

  private func unblock(_ node: Int) {
    guard let refused = nodes[node].refused else { return }
    nodes[node].refused = nil
    nodes[node].isUnblocking = false
    say(node, refused.frame, "unblock")
    accept(refused, at: node)
  }

  private func end(_ frame: Frame, after node: Int, fate: String, reason: String) {
    now(
      .delivery, node + 1, frame.sequence,
      .tombstone(frame, fate: fate, node: node, reason: reason))
  }

  private func bury(_ frame: Frame, at node: Int, fate: String, origin: Int, reason: String) {
    if case .sink = nodes[node].role {
      let id = nodes[origin].id
      return say(node, frame, "outcome fate=\(fate) node=\(id) reason=\(reason)")
    }
    now(
      .delivery, node + 1, frame.sequence,
      .tombstone(frame, fate: fate, node: origin, reason: reason))
  }
}

// MARK: - Nodes

extension TimePlaneModel {
  private func thin(_ node: Int, _ interval: Int64) {
    while !nodes[node].isTaken, !nodes[node].waiting.isEmpty {
      let next = nodes[node].waiting.removeFirst()
      slotFreed(node)
      let time = next.since
      var due = nodes[node].due ?? time
      let passes = 4 * (due - time) <= interval
      if passes {
        due += interval
        if time >= due + interval { due = time + interval }
      }
      nodes[node].due = due
      if passes {
        nodes[node].isTaken = true
        now(.delivery, node + 1, next.frame.sequence, .delivery(next.frame))
      } else {
        say(node, next.frame, "thin")
        end(next.frame, after: node, fate: "thin", reason: "throttle")
      }
    }
  }

  /// One dispatch event per executor and microstep, under the key of its first node.
  private func wantDispatch(_ executor: Int) {
    let first = nodes.indices.first { isStage($0, of: executor) } ?? 0
    let isPlanned = agenda.contains {
      guard case .dispatch(executor) = $0.what else { return false }
      return $0.key[0] == current[0]
    }
    guard !isPlanned else { return }
    now(.dispatch, first, -1, .dispatch(executor: executor))
  }

  private func isStage(_ node: Int, of executor: Int) -> Bool {
    guard case .stage(_, _, executor) = nodes[node].role else { return false }
    return true
  }

  private func dispatch(_ executor: Int) {
    while freeServers[executor] > 0 {
      let ready = nodes.indices.filter {
        isStage($0, of: executor) && !nodes[$0].isTaken && !nodes[$0].waiting.isEmpty
      }
      // Earliest source arrival, sequence, deepest rank.
      let best = ready.min { left, right in
        let (a, b) = (nodes[left].waiting[0].frame, nodes[right].waiting[0].frame)
        return (a.time, a.sequence, -left) < (b.time, b.sequence, -right)
      }
      guard let best, case .stage(let cost, _, _) = nodes[best].role else { return }
      let frame = nodes[best].waiting.removeFirst().frame
      freeServers[executor] -= 1
      nodes[best].isTaken = true
      say(best, frame, "start")
      slotFreed(best)
      let nanoseconds = cost[frame.sequence]
      if nanoseconds == 0 {
        now(.completion, best, frame.sequence, .completion(frame))
      } else {
        let key: Key = [
          current[0] + nanoseconds, 1, 0, Phase.completion.rawValue, Int64(best), 0,
          Int64(frame.sequence), -1, 0,
        ]
        agenda.append((key, best, .completion(frame)))
      }
    }
  }

  private func complete(_ frame: Frame, at node: Int) {
    guard case .stage(_, let failures, let executor) = nodes[node].role else { return }
    freeServers[executor] += 1
    wantDispatch(executor)
    let code = ModelCase.failureCode
    let failure = failures[frame.sequence]
    // The text is silent: a failing body writes fail in the place of done, before a halt too.
    say(node, frame, failure == nil ? "done" : "fail code=\(code)")
    switch failure {
    case .none:
      now(.delivery, node + 1, frame.sequence, .delivery(frame))
    case .recoverable:
      end(frame, after: node, fate: "fail", reason: code)
      leave(node)
    case .unrecoverable:
      now(.control, node, frame.sequence, .halt(frame, code: code))
    }
  }
}
