// MARK: - The items of a frame

extension TimePlaneModel {
  /// A forEach removes a frame from its queue when the last item of the previous frame was
  /// accepted, and offers its items one at a time.
  func handOut(_ node: Int, to gather: Int) {
    while nodes[node].pending == 0 {
      if let frame = nodes[node].current {
        if nodes[node].nextItem < frame.value.items?.count ?? 0 {
          var item = frame
          item.item = nodes[node].nextItem
          item.value = .other(frame.sequence)
          emit(item, from: node)
        } else {
          nodes[node].current = nil
        }
        continue
      }
      let edge = nodes[node].ins[0]
      guard !edges[edge].waiting.isEmpty else { return }
      begin(removeWaiting(edge), at: node, gather: gather)
    }
  }

  private func begin(_ frame: Token, at node: Int, gather: Int) {
    let count = frame.value.items?.count ?? 0
    say(node, frame, "fanout items=\(count)")
    nodes[gather].gathering[frame.sequence] = Gathering(frame: frame, count: count)
    nodes[node].nextItem = 0
    if count == 0 {
      now(.delivery, gather, frame, .noItems(frame))
    } else {
      nodes[node].current = frame
    }
  }

  /// Gathers items as they arrive, unless the last output has not been accepted yet.
  func advanceGather(_ node: Int) {
    let edge = nodes[node].ins[0]
    while nodes[node].pending == 0 {
      if leaveGather(node) { continue }
      guard !edges[edge].waiting.isEmpty else { return }
      let item = removeWaiting(edge)
      nodes[node].gathering[item.sequence]?.items[item.item] = item
      finish(item.sequence, at: node)
    }
  }

  /// Handles a failed item, or a frame without items.
  func gather(_ token: Token, at node: Int) {
    if token.item >= 0 { nodes[node].gathering[token.sequence]?.failed.insert(token.item) }
    finish(token.sequence, at: node)
    advanceGather(node)
  }

  private func finish(_ sequence: Int, at node: Int) {
    guard let frame = nodes[node].gathering[sequence], !frame.isWhole,
      frame.items.count + frame.failed.count == frame.count
    else { return }
    say(node, frame.frame, "join failed=\(frame.failed.count) items=\(frame.count)")
    nodes[node].gathering[sequence]?.isWhole = true
  }

  /// The lowest complete frame leaves when no lower one is open.
  private func leaveGather(_ node: Int) -> Bool {
    guard case .gather(let isClassified) = nodes[node].role,
      let frame = nodes[node].gathering.values.min(by: { $0.frame.sequence < $1.frame.sequence }),
      frame.isWhole
    else { return false }
    var output = frame.frame
    let found = frame.frame.value.items
    output.value =
      isClassified || found == nil
      ? .detections(found?.sequence, count: found?.count ?? 0) : .other(found?.sequence)
    output.leases = frame.items.values.reduce(into: []) { $0.formUnion($1.leases) }
    nodes[node].gathering[output.sequence] = nil
    emit(output, from: node)
    return true
  }
}
