import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTimePlane

/// Futures that compute the bodies of stages.
extension VirtualRun {
  func makeStage(
    _ node: Int, entry: FrameEntry, item: Int? = nil, input: ValueFuture, epoch: Int,
    isNeeded: Bool
  ) -> ValueFuture {
    let future = stageFuture(
      node, entry: entry, item: item, input: input, epoch: epoch, isNeeded: isNeeded)
    workers.submit(future)
    return future
  }

  /// The caller submits the future.
  func stageFuture(
    _ node: Int, entry: FrameEntry, item: Int? = nil, input: ValueFuture, epoch: Int,
    isNeeded: Bool, hold: FrameHold? = nil
  ) -> ValueFuture {
    let context = StageContext(
      frame: entry.id,
      timestamp: Timestamp(nanoseconds: entry.timestamp.nanoseconds - origin), item: item)
    let version = stages.version(of: node, epoch: epoch)
    guard let call = stages[node, version].call else {
      preconditionFailure("only stages are computed")
    }
    var inputs = [input]
    let compute = body(of: node, version, epoch: epoch, context: context, call: call)
    let isStateful = plan.nodes[node].role == .stateful
    // A stateful stage sees its frames in the order of virtual time, whatever threads compute them.
    if isStateful, let before = stages[node, version].chainTail { inputs.append(before) }
    // A stateful call is always needed, because the next call of the stage waits for it.
    let future = ValueFuture(
      node: node, frame: entry.id, item: item, inputs: inputs,
      lane: plan.nodes[node].isPinned ? node : nil, isNeeded: isNeeded || isStateful,
      isDigested: observer.wantsDigests, hold: hold, work: compute)
    if isStateful { stages[node, version].chainTail = future }
    return future
  }

  /// The call of the stage, or a lookup of its cached output.
  private func body(
    of node: Int, _ version: Int, epoch: Int, context: StageContext, call: @escaping StageCall
  ) -> ValueFuture.Work {
    let givesFrames = plan.nodes[node].stage.signature.output == .frame
    let demand = givesFrames ? demand(ofNode: node, epoch: epoch) : FrameDemand()
    let reads = givesFrames ? lastingReads(demand) : nil
    guard let cache = options.cache, let stage = stages[node, version].cached else {
      return { inputs in
        let compute = { @Sendable in inputs[0].map { call($0, context) } }
        return compute().lasting(reads, again: compute)
      }
    }
    let cached = CachedCall(
      cache: cache, stage: stage, demand: demand, context: context, call: call)
    return { inputs in
      cached.outcome(inputs).lasting(reads) { cached.outcome(inputs).resolved }
    }
  }

  /// The number of reads after which a frame's pixels may be released; `nil` if a swap may cause
  /// another read.
  func lastingReads(_ demand: FrameDemand) -> Int? { options.hasSwaps ? nil : demand.reads }

  /// A value that the engine itself computes from others: at joins and forEach nodes.
  func makeValue(
    _ node: Int, _ entry: FrameEntry, item: Int? = nil, inputs: [ValueFuture],
    isNeeded: Bool = true,
    _ work: @escaping @Sendable ([any PipelineValue]) -> any PipelineValue
  ) -> ValueFuture {
    let future = ValueFuture(
      node: node, frame: entry.id, item: item, inputs: inputs, isNeeded: isNeeded,
      isDigested: observer.wantsDigests && item == nil
    ) { outcomes in
      var values: [any PipelineValue] = []
      for outcome in outcomes {
        guard case .value(let value) = outcome else { return outcome }
        values.append(value)
      }
      return .value(work(values))
    }
    workers.submit(future)
    return future
  }

  /// The value that a node gets through one of its ports.
  func input(of node: Int, port: Int = 0, work: Work) -> ValueFuture? {
    let slot = work.slotIndex
    let upstream = plan.edges[plan.nodes[node].inEdges[port]].from
    guard let future = values[slot][upstream, work] else { return nil }
    workers.need(future)
    // A source has no service; its value counts as started when a node first uses it.
    if plan.nodes[upstream].role == .source { pendingBySlot[slot]?.started[upstream] = future }
    return future
  }

  func start(node: Int, work: Work) throws {
    let slot = work.slotIndex
    guard let record = pendingBySlot[slot], let input = input(of: node, work: work) else {
      preconditionFailure("what is served has a value")
    }
    let future =
      values[slot][node, work]
      ?? makeStage(
        node, entry: record.entry, item: work.isItem ? Int(work.item) : nil, input: input,
        epoch: record.epoch, isNeeded: true)
    workers.need(future)
    values[slot][node, work] = future
    record.start(future, node: node, work: work)
    let now = core.now
    // serve-cost: known when the service begins. The body may be computed before or after.
    let cost =
      isFree ? 0 : try cost(of: service(node, work, record, at: now), body: future)
    core.addCompletion(node: node, work: work, time: now + cost)
  }

  func pass(node: Int, slot: Int) {
    values[slot].futures[node] = input(of: node, work: Work(slot: slot))
  }

  /// Values that were computed ahead from the failed value cannot be used with its fallback.
  func fallBack(node: Int, slot: Int, to previous: Int) {
    var isBehind = [Bool](repeating: false, count: plan.nodes.count)
    isBehind[node] = true
    for next in plan.nodes.indices {
      // Nothing behind a join is computed ahead, and the join's output for this frame may be in
      // use.
      guard ![.join, .latest].contains(plan.nodes[next].role), let edge = plan.nodes[next].inEdge,
        isBehind[plan.edges[edge].from]
      else { continue }
      isBehind[next] = true
      if let future = values[slot].futures[next], plan.nodes[next].role == .pure {
        workers.cancel(future)
      }
      values[slot].futures[next] = nil
    }
    // stage-fallback: from here on this frame's value is the value of an earlier frame.
    values[slot].futures[node] = values[previous].futures[node]
  }

  // MARK: Joins

  func join(node: Int, slot: Int, ports: UInt32) {
    guard let record = pendingBySlot[slot] else { return }
    let inputs = plan.nodes[node].inEdges.indices.map { port in
      ports & 1 << UInt32(port) == 0
        ? nil : input(of: node, port: port, work: Work(slot: slot))
    }
    setJoined(node, slot: slot, record, inputs: inputs)
  }

  func latest(node: Int, slot: Int, others: [Int]) {
    guard let record = pendingBySlot[slot] else { return }
    var inputs = [input(of: node, work: Work(slot: slot))]
    for (index, other) in others.enumerated() {
      let upstream = plan.edges[plan.nodes[node].inEdges[index + 1]].from
      inputs.append(other < 0 ? nil : read(upstream, of: other))
    }
    setJoined(node, slot: slot, record, inputs: inputs)
  }

  private func setJoined(
    _ node: Int, slot: Int, _ record: PendingFrame, inputs: [ValueFuture?]
  ) {
    let names = plan.nodes[node].stage.inputPorts
    let isThere = inputs.map { $0 != nil }
    let future = makeValue(node, record.entry, inputs: inputs.compactMap { $0 }) { values in
      var rest = values[...]
      return Joined(
        names.indices.map { port in
          Joined.Part(port: names[port], value: isThere[port] ? rest.popFirst() : nil)
        })
    }
    values[slot].futures[node] = future
    record.started[node] = future
  }

  // MARK: forEach

  /// Creates the items of a frame. Starts the pure stages of the body if threads run ahead.
  func fanOut(node: Int, slot: Int, items: Int) {
    guard let record = pendingBySlot[slot], let input = input(of: node, work: Work(slot: slot))
    else { return }
    for item in 0..<items {
      let region = makeValue(node, record.entry, item: item, inputs: [input]) { values in
        ForEachItems.region(item, of: values[0]) ?? values[0]
      }
      values[slot][node, Work(slot: slot, item: item)] = region
      if runsAhead { runAhead(item: item, of: node, slot: slot, record, region: region) }
    }
  }

  private func runAhead(
    item: Int, of fork: Int, slot: Int, _ record: PendingFrame, region: ValueFuture
  ) {
    let work = Work(slot: slot, item: item)
    for node in plan.nodes.indices
    where plan.nodes[node].fork == fork && plan.nodes[node].role == .pure {
      guard let edge = plan.nodes[node].inEdge,
        let input = values[slot][plan.edges[edge].from, work]
      else { return }
      values[slot][node, work] = makeStage(
        node, entry: record.entry, item: item, input: input, epoch: record.epoch,
        isNeeded: isEverythingNeeded)
    }
  }

  /// Puts the items of a frame back in order, failed ones included.
  func gather(node: Int, slot: Int) {
    guard let record = pendingBySlot[slot], let fork = plan.nodes[node].fork,
      let whole = input(of: fork, work: Work(slot: slot)), let edge = plan.nodes[node].inEdge
    else { return }
    let last = plan.edges[edge].from
    let failed = record.failedItems[fork] ?? [:]
    let count = values[slot].items[fork]?.count ?? 0
    let outputs = (0..<count).map { item in
      failed[item] == nil ? values[slot][last, Work(slot: slot, item: item)] : nil
    }
    let isClassified = plan.nodes[last].stage.signature.output == .classes
    let codes = (0..<count).map { failed[$0] }
    let future = makeValue(node, record.entry, inputs: [whole] + outputs.compactMap { $0 }) {
      values in
      var rest = values[1...]
      // gather-close: a failed item keeps its place, so items and outcomes have the same indexes.
      let outcomes = codes.map { code -> Items.Outcome in
        if let code { return .failed(code: code) }
        return rest.popFirst().map { .value($0) } ?? .failed(code: "item.missing")
      }
      return ForEachItems.gathered(values[0], outcomes: outcomes, isClassified: isClassified)
    }
    values[slot].futures[node] = future
    record.started[node] = future
  }
}

extension ValueOutcome {
  /// The body's outcome for a value; any other outcome is passed on unchanged.
  func map(_ body: (any PipelineValue) -> StageOutcome) -> ValueOutcome {
    guard case .value(let value) = self else { return self }
    // Results must not depend on a machine's memory: a stage that gets no memory ends the run.
    switch FrameShortage.checked({ body(value) }) {
    case .success(.success(let output)): return .value(output)
    case .success(.failure(let error)): return .failure(error)
    case .failure(let error): return .fault(error)
    }
  }
}

extension RuntimeError {
  static func unreadable(_ id: FrameID, _ error: any Error) -> any Error {
    if error is any CodedError { return error }
    return RuntimeError.frameUnreadable(id, cause: "\(error)", advice: nil)
  }
}
