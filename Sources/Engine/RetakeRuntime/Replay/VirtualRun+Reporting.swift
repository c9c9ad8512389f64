import RetakeBuffers
import RetakeCore
import RetakeGraph

extension VirtualRun {
  /// Reports the oldest frames to the observer until at most `window` settled frames wait for their
  /// values. One call per frame is enough.
  func emit(keeping window: Int) throws {
    while settledCount > 0, let first = pending.first, first.isSettled, first.openPrograms == 0,
      settledCount > window || isKnown(first)
    {
      // Everything may have been decided long before the last values are computed.
      if options.isInterrupted?() == true { throw RuntimeError.interrupted }
      // sink-order: only the oldest captured frame is reported, even if later frames are done
      // already.
      try checkFaults(of: first)
      pending.removeFirst()
      settledCount -= 1
      try observer.finished(finished(first))
    }
  }

  /// Throws the first fault of the work that began for a frame in virtual time. So if several
  /// frames are broken, the frame that was captured first is reported, in whatever order the
  /// machine computed them.
  func checkFaults(of frame: PendingFrame) throws {
    try frame.forEachStarted { future in
      if !future.isDone { _ = try workers.help(future) }
      if let error = future.fault { throw error }
    }
  }

  /// Whether all values of a settled frame are computed already. Without worker threads, a value is
  /// only computed when it is waited for.
  private func isKnown(_ frame: PendingFrame) -> Bool {
    for case .delivered(let facts, _) in frame.sinks where !facts.isDone { return false }
    return frame.allStarted(\.isDone)
  }

  private func finished(_ frame: PendingFrame) throws -> FinishedFrame {
    var outcomes: [SinkOutcome] = []
    var classNames: [[String]] = []
    var pictures: [Frame?] = []
    // sink-order: positions are in the byte order of the sinks' IDs.
    for (position, state) in frame.sinks.enumerated() {
      if case .elsewhere = state { continue }
      let sink = plan.sinks[position]
      outcomes.append(
        SinkOutcome(
          sink: plan.nodes[sink].id, content: try content(state, sink: sink, frame: frame)))
      let value = try delivered(state)
      classNames.append((value as? Detections)?.classNames ?? [])
      pictures.append(value as? Frame)
    }
    return FinishedFrame(
      entry: frame.entry, arrivalNanoseconds: frame.arrival,
      result: FrameResult(id: frame.entry.id, pts: frame.entry.pts, outcomes: outcomes),
      classNames: classNames, pictures: pictures, failures: frame.failures.all,
      digests: observer.wantsDigests ? try digests(of: frame) : [])
  }

  private func content(
    _ state: PendingFrame.SinkState, sink: Int, frame: PendingFrame
  ) throws -> SinkOutcome.Content {
    switch state {
    case .open, .elsewhere:
      preconditionFailure("a settled frame has an outcome at every sink of its ledger")
    case .ended(let fate, let node):
      tell(
        sink, frame, .ended(fate, node: plan.nodes[node].id), failure: frame.failures[node])
      return .ended(fate, node: plan.nodes[node].id)
    case .delivered(let facts, let value):
      let known = try resolved(facts)
      tell(sink, frame, .value(try resolved(value)))
      return .facts(known.facts)
    }
  }

  private func delivered(_ state: PendingFrame.SinkState) throws -> (any PipelineValue)? {
    guard case .delivered(_, let value) = state else { return nil }
    return try resolved(value)
  }

  private func tell(
    _ sink: Int, _ frame: PendingFrame, _ content: SinkDelivery.Content,
    failure: StageFailure? = nil
  ) {
    guard case .sink(let receive) = plan.nodes[sink].stage.body else { return }
    let delivery = SinkDelivery(
      frame: frame.entry.id, timestamp: timestamp(of: frame.entry), content: content,
      failure: failure)
    workers.watching(node: sink, frame: frame.entry.id) { receive(delivery) }
  }

  private func resolved(_ future: ValueFuture) throws -> any PipelineValue {
    switch try workers.help(future).resolved {
    case .value(let value): return value
    case .failure(let error): throw error
    case .fault(let error): throw error
    case .cancelled, .later: preconditionFailure("what is delivered is never cancelled")
    }
  }

  private func digests(of frame: PendingFrame) throws -> [NodeDigest] {
    try plan.nodes.indices.filter { RunNode.StageRoleName(plan.nodes[$0].role).isDigested }.map {
      node in
      if let items = frame.started.items[node] { return try digest(of: items) }
      return try frame.started.outputs[node].map { try digest(of: $0) } ?? .notRun
    }
  }

  private func digest(of future: ValueFuture) throws -> NodeDigest {
    let outcome = try workers.help(future)
    if case .fault(let error) = outcome { throw error }
    guard let digest = future.digest else { return .notRun }
    if case .failure = outcome { return .failed(digest) }
    return .value(digest)
  }

  /// For a stage of a forEach's body: the digest of its items' digests, in order.
  private func digest(of items: [ValueFuture?]) throws -> NodeDigest {
    var hasher = DigestHasher()
    for future in items {
      switch try future.map({ try digest(of: $0) }) ?? .notRun {
      case .value(let digest), .failed(let digest): hasher.append(digest.description)
      case .notRun: hasher.append("-")
      }
    }
    return .value(hasher.finish())
  }
}
