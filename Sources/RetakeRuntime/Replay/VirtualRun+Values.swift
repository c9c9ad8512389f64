import RetakeBuffers
import RetakeCore
import RetakeGraph

extension VirtualRun {
  // MARK: Frames ahead

  func announceNext(after event: Event) throws {
    guard let source = sources.firstIndex(where: { $0.node == Int(event.target) }) else { return }
    try announce(source: source)
  }

  /// Tells the core of the source's next frame, and keeps the frames behind it computing.
  func announce(source: Int) throws {
    try runAhead(source: source)
    guard let frame = sources[source].ahead.popFirst() else { return }
    let slot = core.addArrival(
      source: sources[source].node, id: frame.entry.id, time: frame.time)
    if slot >= values.count {
      values.append([])
      pendingBySlot.append(nil)
      announced.append(nil)
    }
    values[slot] = frame.futures
    announced[slot] = frame
  }

  /// Fills the window: frames are read, and pure stages behind the source computed, before virtual
  /// time asks for them. Without threads beside the time plane there is nobody to run ahead.
  private func runAhead(source: Int) throws {
    let depth = options.workers > 1 ? max(1, options.window) : 1
    while sources[source].ahead.count < depth,
      let (entry, time) = try sources[source].schedule.nextFrame()
    {
      sources[source].ahead.append(
        AheadFrame(entry: entry, time: time, futures: futures(for: entry, source: source)))
    }
  }

  private func futures(for entry: FrameEntry, source: Int) -> [ValueFuture?] {
    var futures = [ValueFuture?](repeating: nil, count: plan.nodes.count)
    guard entry.damage == nil else { return futures }
    let root = sources[source].node
    futures[root] = makeRead(entry, source: source)
    guard options.workers > 1 else { return futures }
    for node in plan.nodes.indices where plan.nodes[node].role == .pure {
      guard let edge = plan.nodes[node].inEdge, let input = futures[plan.edges[edge].from] else {
        continue
      }
      futures[node] = makeStage(node, entry: entry, input: input, isNeeded: isEverythingNeeded)
    }
    return futures
  }

  /// In `lossless` all that is computed ahead is needed; else it is speculation.
  private var isEverythingNeeded: Bool { options.mode == .lossless }

  private func makeRead(_ entry: FrameEntry, source: Int) -> ValueFuture {
    let reader = sources[source].reader
    let id = entry.id
    let timestamp = Timestamp(nanoseconds: entry.timestamp.nanoseconds - origin)
    let chain = reader.chain(of: id)
    let inputs = sources[source].tail(ofChain: chain).map { [$0] } ?? []
    let future = ValueFuture(
      inputs: inputs, label: label(sources[source].node, id), isNeeded: isEverythingNeeded,
      isDigested: observer.wantsDigests
    ) { _ in
      do {
        var frame = try reader.frame(id)
        frame.id = id
        frame.timestamp = timestamp
        return .value(frame)
      } catch {
        return .fault(RuntimeError.unreadable(id, error))
      }
    }
    sources[source].setTail(future, ofChain: chain)
    workers.submit(future)
    return future
  }

  private func makeStage(
    _ node: Int, entry: FrameEntry, input: ValueFuture, isNeeded: Bool
  ) -> ValueFuture {
    let context = StageContext(
      frame: entry.id,
      timestamp: Timestamp(nanoseconds: entry.timestamp.nanoseconds - origin))
    let future: ValueFuture
    switch plan.nodes[node].stage.body {
    case .pure(let body):
      future = ValueFuture(
        inputs: [input], label: label(node, entry.id), isNeeded: isNeeded,
        isDigested: observer.wantsDigests
      ) { $0[0].map { body($0, context) } }
    case .stateful:
      guard let instance = instances[node] else {
        preconditionFailure("a stateful stage has an instance")
      }
      let inputs = [input] + (chainTails[node].map { [$0] } ?? [])
      future = ValueFuture(
        inputs: inputs, label: label(node, entry.id), isNeeded: true,
        isDigested: observer.wantsDigests
      ) { $0[0].map { instance.process($0, context) } }
      chainTails[node] = future
    case .source, .throttle, .sample, .route, .join, .latest, .fork, .gather, .sink:
      preconditionFailure("only stages are computed")
    }
    workers.submit(future)
    return future
  }

  private func label(_ node: Int, _ id: FrameID) -> UInt64 {
    plan.nodes[node].hash ^ UInt64(truncatingIfNeeded: id.sequence &* 0x1_0000_01b3 &+ id.track)
  }

  // MARK: Actions

  func capture(_ slot: Int) {
    guard let frame = announced[slot] else { return }
    announced[slot] = nil
    let record = PendingFrame(
      entry: frame.entry, arrival: frame.time, nodes: plan.nodes.count, sinks: plan.sinks.count)
    pending.append(record)
    pendingBySlot[slot] = record
    ledgers.capture(track: frame.entry.id.track)
  }

  func lose(_ slot: Int) {
    outcome.lostBeforeCapture += 1
    announced[slot] = nil
    for future in values[slot] { if let future { workers.cancel(future) } }
    values[slot] = []
  }

  /// The value that a node is given.
  func input(of node: Int, slot: Int) -> ValueFuture? {
    guard let edge = plan.nodes[node].inEdge else { return nil }
    let upstream = plan.edges[edge].from
    guard let future = values[slot][upstream] else { return nil }
    future.markNeeded()
    if plan.nodes[upstream].role == .source { pendingBySlot[slot]?.started[upstream] = future }
    return future
  }

  func start(node: Int, slot: Int) throws {
    guard let record = pendingBySlot[slot], let input = input(of: node, slot: slot) else {
      preconditionFailure("what is served has a value")
    }
    let future =
      values[slot][node] ?? makeStage(node, entry: record.entry, input: input, isNeeded: true)
    future.markNeeded()
    values[slot][node] = future
    record.started[node] = future
    let now = core.current.time
    let cost = try cost(
      of: CostModel.Service(node: node, frame: record.entry.id, time: now), body: future)
    core.addCompletion(node: node, slot: slot, time: now + cost)
  }

  func deliver(sink: Int, slot: Int) {
    guard let record = pendingBySlot[slot], let position = plan.sinks.firstIndex(of: sink),
      let value = input(of: sink, slot: slot)
    else { preconditionFailure("what is delivered has a value") }
    let isDiscarded = plan.nodes[sink].stage.signature.kind == AnyStage.discardKind
    let facts = ValueFuture(
      inputs: [value], label: label(sink, record.entry.id), isNeeded: true, isDigested: false
    ) { inputs in
      guard case .value(let value) = inputs[0] else { return inputs[0] }
      return .value(FactsValue(facts: isDiscarded ? [] : value.facts))
    }
    workers.submit(facts)
    record.sinks[position] = .delivered(facts: facts, value: value)
    ledgers.count(.delivered, sink: position, track: record.entry.id.track)
  }

  func end(sink: Int, slot: Int, _ fate: FrameFate, node: Int) {
    guard let record = pendingBySlot[slot], let position = plan.sinks.firstIndex(of: sink) else {
      preconditionFailure("what ends was captured")
    }
    record.sinks[position] = .ended(fate, node: node)
    ledgers.count(fate, sink: position, track: record.entry.id.track)
  }

  /// Everything about the frame is decided; what was computed for nothing is given up.
  func settle(_ slot: Int) {
    guard let record = pendingBySlot[slot] else { return }
    record.isSettled = true
    settledCount += 1
    for (node, future) in values[slot].enumerated() {
      guard let future, record.started[node] == nil else { continue }
      if [.pure, .source].contains(plan.nodes[node].role) { workers.cancel(future) }
    }
    values[slot] = []
    pendingBySlot[slot] = nil
  }
}

extension ValueOutcome {
  /// The body's outcome for a value; anything else goes on as it is.
  func map(_ body: (any PipelineValue) -> StageOutcome) -> ValueOutcome {
    guard case .value(let value) = self else { return self }
    switch body(value) {
    case .success(let output): return .value(output)
    case .failure(let error): return .failure(error)
    }
  }
}

extension RuntimeError {
  static func unreadable(_ id: FrameID, _ error: any Error) -> any Error {
    if error is any CodedError { return error }
    return RuntimeError.frameUnreadable(id, cause: "\(error)", advice: nil)
  }
}
