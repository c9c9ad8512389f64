// MARK: - Joins of the parts of one frame

extension TimePlaneModel {
  /// Repeatedly removes the waiting part with the lowest sequence, then the lowest port, until the
  /// output is not accepted.
  func advanceJoin(_ node: Int) {
    while nodes[node].pending == 0 {
      if leaveJoin(node) { continue }
      var best: (edge: Int, index: Int)?
      for edge in nodes[node].ins {
        for index in edges[edge].waiting.indices {
          let other = best.map { edges[$0.edge].waiting[$0.index].sequence } ?? .max
          if edges[edge].waiting[index].sequence < other { best = (edge, index) }
        }
      }
      guard let best else { return }
      takePart(removeWaiting(best.edge, at: best.index), at: node, port: edges[best.edge].port)
    }
  }

  private func takePart(_ part: Token, at node: Int, port: Int) {
    guard case .join(_, let timeout) = nodes[node].role else { return }
    var frame = nodes[node].joining[part.sequence] ?? Joining(frame: part)
    guard !frame.hasTimedOut else { return say(node, part, "late") }
    frame.parts[port] = part
    if !frame.isTimed, let timeout, !isUnbounded {
      later(timeout, .control, node, part, .timer(part))
    }
    frame.isTimed = true
    nodes[node].joining[part.sequence] = frame
    decideJoin(part.sequence, at: node)
  }

  func endPart(_ token: Token, _ ending: Ending, at node: Int, port: Int) {
    var frame = nodes[node].joining[token.sequence] ?? Joining(frame: token)
    guard !frame.hasTimedOut else { return }
    frame.endings[port] = ending
    nodes[node].joining[token.sequence] = frame
    decideJoin(token.sequence, at: node)
    advanceJoin(node)
  }

  func timeOutJoin(_ token: Token, at node: Int) {
    guard let frame = nodes[node].joining[token.sequence], frame.state == .open else { return }
    say(node, token, "timeout")
    nodes[node].joining[token.sequence]?.hasTimedOut = true
    decideJoin(token.sequence, at: node)
    advanceJoin(node)
  }

  private func decideJoin(_ sequence: Int, at node: Int) {
    guard case .join(let isAny, _) = nodes[node].role, let frame = nodes[node].joining[sequence],
      frame.state == .open
    else { return }
    let ports = nodes[node].ins.count
    guard frame.parts.count + frame.endings.count == ports || frame.hasTimedOut else { return }
    let endings = frame.endings.sorted { $0.key < $1.key }.map(\.value)
    if frame.parts.count == ports || isAny && !frame.parts.isEmpty {
      say(node, frame.frame, "join parts=\(frame.parts.count)")
      nodes[node].joining[sequence]?.state = .joined
    } else if let failure = endings.first(where: { $0.fate == "fail" }) {
      endJoin(frame, at: node, failure)
    } else if frame.hasTimedOut {
      dropJoin(frame, at: node, reason: "timeout")
    } else if frame.parts.isEmpty, let ending = endings.first {
      endJoin(frame, at: node, ending)
    } else {
      dropJoin(frame, at: node, reason: "partnerMissing")
    }
  }

  private func dropJoin(_ frame: Joining, at node: Int, reason: String) {
    say(node, frame.frame, "drop reason=\(reason)")
    endJoin(frame, at: node, Ending(fate: "drop", reason: reason, node: node))
  }

  private func endJoin(_ frame: Joining, at node: Int, _ ending: Ending) {
    nodes[node].joining[frame.frame.sequence]?.state = .ended
    nodes[node].joining[frame.frame.sequence]?.parts = [:]
    end(frame.frame, from: node, ending)
  }

  /// The lowest joined frame leaves when no lower one is open: values leave in the order of
  /// sequence.
  private func leaveJoin(_ node: Int) -> Bool {
    let frames = nodes[node].joining.values.sorted { $0.frame.sequence < $1.frame.sequence }
    let next = frames.first { $0.state != .ended }
    guard let frame = next, frame.state == .joined else { return false }
    var output = frame.frame
    output.value = .joined(nodes[node].ins.indices.map { frame.parts[$0]?.value })
    output.leases = frame.parts.values.reduce(into: []) { $0.formUnion($1.leases) }
    nodes[node].joining[output.sequence]?.state = .ended
    nodes[node].joining[output.sequence]?.parts = [:]
    emit(output, from: node)
    return true
  }
}

// MARK: - The newest value of other ports

extension TimePlaneModel {
  func advanceLatest(_ node: Int) {
    for edge in nodes[node].ins.dropFirst() {
      while !edges[edge].waiting.isEmpty {
        let value = removeWaiting(edge)
        let last = nodes[node].lastRead[edges[edge].port]
        let isOlder = last.map { isNewer($0, than: value, edges[edge].port, at: node) } ?? false
        if !isOlder { nodes[node].cells[edges[edge].port, default: []].append(value) }
      }
    }
    let first = nodes[node].ins[0]
    guard nodes[node].current == nil, nodes[node].pending == 0, !edges[first].waiting.isEmpty
    else { return }
    let frame = removeWaiting(first)
    nodes[node].current = frame
    if current.band < 3 {
      plan(
        Key(
          time: current.time, band: 3, phase: .delivery, node: node, track: frame.track,
          sequence: frame.sequence), .read)
    } else {
      now(.delivery, node, frame, .read)
    }
  }

  /// By sequence; for another track than the frame's, by arrival, then sequence.
  private func isNewer(_ value: Token, than other: Token, _ port: Int, at node: Int) -> Bool {
    guard case .latest(let ports) = nodes[node].role, ports[port].isAcrossTracks else {
      return value.sequence > other.sequence
    }
    return (value.arrival, value.sequence) > (other.arrival, other.sequence)
  }

  func readLatest(_ node: Int) {
    guard case .latest(let ports) = nodes[node].role, let frame = nodes[node].current else {
      return
    }
    var parts: [Value?] = [frame.value]
    var output = frame
    var words: [(key: String, value: String)] = []
    for port in ports.indices.dropFirst() {
      let read = newest(port, for: frame, at: node)
      if let read {
        nodes[node].lastRead[port] = read
        let kept = nodes[node].cells[port]?.filter { !isNewer(read, than: $0, port, at: node) }
        nodes[node].cells[port] = kept
        output.leases.formUnion(read.leases)
      }
      parts.append(read?.value)
      words.append((ports[port].name, read?.name ?? "-"))
    }
    words.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    say(node, frame, words.reduce("latest") { "\($0) \($1.key)=\($1.value)" })
    output.value = .joined(parts)
    nodes[node].current = nil
    emit(output, from: node)
  }

  private func newest(_ port: Int, for frame: Token, at node: Int) -> Token? {
    var best: Token?
    for value in nodes[node].cells[port] ?? [] {
      let isInTime =
        value.track == frame.track
        ? value.sequence <= frame.sequence : value.arrival <= frame.arrival
      guard isInTime,
        best.map({ isNewer(value, than: $0, port, at: node) }) ?? true
      else { continue }
      best = value
    }
    return best
  }
}
