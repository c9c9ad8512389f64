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
    var context = context(of: node, entry, item: item)
    let version = stages.version(of: node, epoch: epoch)
    if stages[node, version].program != nil {
      (context.nowNanoseconds, context.isKeyFrame) = (core.now, entry.isKey)
    }
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

  func context(of node: Int, _ entry: FrameEntry, item: Int?) -> StageContext {
    var context = StageContext(frame: entry.id, timestamp: timestamp(of: entry), item: item)
    (context.run, context.node) = (stageRun, plan.nodes[node].id)
    return context
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
        let compute = { @Sendable in inputs[0].map(context, call) }
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

  func combine(
    _ inputs: [ValueFuture], at node: Int, _ work: Work, as combination: Combination
  ) -> ValueFuture? {
    guard let record = pendingBySlot[work.slotIndex] else { return nil }
    let future = ValueFuture(
      node: node, frame: record.entry.id, item: work.isItem ? Int(work.item) : nil, inputs: inputs,
      isNeeded: true, isDigested: observer.wantsDigests && !work.isItem
    ) { outcomes in
      var values: [any PipelineValue] = []
      for outcome in outcomes {
        guard case .value(let value) = outcome else { return outcome }
        values.append(value)
      }
      guard let value = combination.value(of: values) else {
        preconditionFailure("in replay, the items were counted in this value")
      }
      return .value(value)
    }
    workers.submit(future)
    if !work.isItem { record.started.outputs[node] = future }
    return future
  }

  func use(_ future: ValueFuture, of node: Int, slot: Int) {
    workers.need(future)
    // A source has no service; its value counts as started when a node first uses it.
    if plan.nodes[node].role == .source { pendingBySlot[slot]?.started.outputs[node] = future }
  }

  func start(node: Int, work: Work, ready: Int64) throws {
    let (record, future) = begin(node: node, work: work)
    let now = core.now
    // serve-cost: known when the service begins. The body may be computed before or after.
    let cost =
      isFree ? 0 : try cost(of: service(node, work, record, at: now), body: future)
    core.addCompletion(node: node, work: work, time: now + cost)
  }

  func startBatch(node: Int, _ starts: [Action.Start]) throws {
    var total: Int64 = 0
    computeTogether(node: node, starts)
    for (index, item) in starts.enumerated() {
      let (record, future) = begin(node: node, work: item.work)
      // batch-cost: a declared cost counts once, a measured or recorded one for each frame.
      let counts = index == 0 || options.costs.meter != nil || costs.hasTimings(of: node)
      guard !isFree, counts else { continue }
      var service = service(node, item.work, record, at: core.now)
      service.batchCount = starts.count
      total = min(total + (try cost(of: service, body: future)), Cost.nanosecondsMax)
    }
    for item in starts {
      core.addCompletion(node: node, work: item.work, time: core.now + total)
    }
  }

  /// Starts the body, or takes the one that was started ahead.
  private func begin(node: Int, work: Work) -> (record: PendingFrame, future: ValueFuture) {
    let slot = work.slotIndex
    guard let record = pendingBySlot[slot], let input = input(of: node, work: work) else {
      preconditionFailure("what is served has a value")
    }
    // Before the call is made: the output of the timers up to now belongs to the previous frame.
    closeProgram(of: node, .until(core.now))
    let future =
      values[slot][node, work]
      ?? makeStage(
        node, entry: record.entry, item: work.isItem ? Int(work.item) : nil, input: input,
        epoch: record.epoch, isNeeded: true)
    workers.need(future)
    values[slot][node, work] = openProgram(of: node, record, call: future) ?? future
    record.started[node, work] = future
    return (record, future)
  }

  /// Values that were computed ahead from the failed value cannot be used with its fallback.
  func forgetAhead(behind node: Int, slot: Int) {
    var isBehind = [Bool](repeating: false, count: plan.nodes.count)
    isBehind[node] = true
    for next in plan.nodes.indices {
      // Nodes downstream of a join are not computed ahead, and the join's output for this frame may
      // be in use.
      guard ![.join, .latest].contains(plan.nodes[next].role), let edge = plan.nodes[next].inEdge,
        isBehind[plan.edges[edge].from]
      else { continue }
      isBehind[next] = true
      if let future = values[slot].outputs[next], plan.nodes[next].role == .pure {
        workers.cancel(future)
      }
      values[slot].outputs[next] = nil
    }
  }

  /// Starts the pure stages of the body for an item, if threads run ahead.
  func entered(_ item: Work, fork: Int) {
    guard runsAhead, let record = pendingBySlot[item.slotIndex] else { return }
    for node in plan.nodes.indices
    where plan.nodes[node].fork == fork && plan.nodes[node].isComputedAhead {
      guard let edge = plan.nodes[node].inEdge,
        let input = values[item.slotIndex][plan.edges[edge].from, item]
      else { return }
      values[item.slotIndex][node, item] = makeStage(
        node, entry: record.entry, item: Int(item.item), input: input, epoch: record.epoch,
        isNeeded: isEverythingNeeded)
    }
  }
}

extension ValueOutcome {
  /// The body's outcome for a value; any other outcome is passed on unchanged.
  func map(_ context: StageContext, _ body: StageCall) -> ValueOutcome {
    guard case .value(let value) = self else { return self }
    // Results must not depend on a machine's memory: a stage that gets no memory ends the run.
    switch FrameShortage.checked(in: context.supply, { body(value, context) }) {
    case .success(.success(let output)): return .value(output)
    case .success(.failure(let error)): return .failure(error)
    case .failure(let error): return .fault(error)
    }
  }
}

extension RuntimeError {
  static func unreadable(_ id: FrameID, _ error: any Error) -> any Error {
    if error is any CodedError { return error }
    return RuntimeError.frameUnreadable(id, cause: error.causeText, advice: nil)
  }
}
