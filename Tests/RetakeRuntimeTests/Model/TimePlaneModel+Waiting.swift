// MARK: - Sources that wait for a buffer

extension TimePlaneModel {
  /// The capture thread stands still with a frame until a buffer is free or the limit is reached.
  func stand(_ comer: Comer, at node: Int, _ limit: Int64) {
    var standing = comer
    (standing.isLate, standing.isCounted, standing.standsSince) = (true, true, current.time)
    nodes[node].standing = standing
    let frame = comer.frame
    say(node, frame, "wait reason=pool")
    plan(
      Key(
        time: current.time + limit, band: 2, phase: .arrival, node: node, track: frame.track,
        sequence: frame.sequence, ordinal: 1), .limit(sequence: frame.sequence))
  }

  /// Wherever a buffer is free, the frame that waits asks for it in the band of arrivals, once all
  /// else of the release band is done.
  func planAsks() {
    for node in nodes.indices {
      guard let frame = nodes[node].standing?.frame, let pool = nodes[node].pool,
        freeBuffers(pool) > 0, !isAskPlanned(node)
      else { continue }
      if current.band < 2 {
        plan(
          Key(
            time: current.time, band: 2, phase: .arrival, node: node, track: frame.track,
            sequence: frame.sequence), .ask)
      } else {
        now(.arrival, node, frame, .ask)
      }
    }
  }

  private func isAskPlanned(_ node: Int) -> Bool {
    agenda.contains {
      guard case .ask = $0.what else { return false }
      return $0.key.node == node
    }
  }

  /// Hands out the free buffers, one by one, each to the source that has waited longest. If several
  /// sources began to wait at the same time, the first of them receives the buffer.
  func askAgain(_ node: Int) {
    guard let pool = nodes[node].pool else { return }
    while freeBuffers(pool) > 0 {
      var best: (node: Int, comer: Comer)?
      for (other, comer) in standing(at: pool)
      where comer.standsSince < best?.comer.standsSince ?? .max {
        best = (other, comer)
      }
      guard let best else { return }
      nodes[best.node].standing = nil
      // The buffer is not reserved for other frames any more.
      admit(best.comer, at: best.node, isServed: true)
      admitNext(best.node)
    }
  }

  func standing(at pool: Int) -> [(Int, Comer)] {
    nodes.indices.compactMap { node in
      guard nodes[node].pool == pool, let comer = nodes[node].standing else { return nil }
      return (node, comer)
    }
  }

  func endWait(_ node: Int, _ sequence: Int) {
    guard let frame = nodes[node].standing?.frame, frame.sequence == sequence else { return }
    nodes[node].standing = nil
    say(node, frame, "lost reason=pool")
    admitNext(node)
  }

  private func admitNext(_ node: Int) {
    while nodes[node].standing == nil, !nodes[node].behind.isEmpty {
      admit(nodes[node].behind.removeFirst(), at: node)
    }
  }
}
