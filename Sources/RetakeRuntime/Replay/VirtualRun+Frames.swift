import RetakeCore
import RetakeGraph

/// What becomes of each captured frame.
extension VirtualRun {
  func capture(_ slot: Int) {
    guard let frame = announced[slot] else { return }
    announced[slot] = nil
    let record = PendingFrame(
      entry: frame.entry, arrival: frame.time, epoch: core.slots[slot].epoch,
      nodes: plan.nodes.count, sinks: plan.sinks.count)
    for position in plan.sinkPositions(ofSource: core.slots[slot].source) {
      record.sinks[position] = .open
      ledgers.capture(track: frame.entry.id.track, sink: position)
    }
    pending.append(record)
    pendingBySlot[slot] = record
    if record.epoch != frame.epoch { forgetAhead(slot, source: core.slots[slot].source) }
  }

  /// What was computed ahead with stages that are no longer in force is made again when it starts.
  private func forgetAhead(_ slot: Int, source: Int) {
    for node in values[slot].futures.indices where node != source {
      guard let future = values[slot].futures[node] else { continue }
      if plan.nodes[node].role == .pure { workers.cancel(future) }
      values[slot].futures[node] = nil
    }
  }

  func lose(_ slot: Int) {
    outcome.lostBeforeCapture += 1
    announced[slot] = nil
    for case let future? in values[slot].futures { workers.cancel(future) }
  }

  func deliver(sink: Int, slot: Int) {
    guard let record = pendingBySlot[slot], let position = plan.sinks.firstIndex(of: sink),
      let value = input(of: sink, work: Work(slot: slot))
    else { preconditionFailure("what is delivered has a value") }
    let isDiscarded = plan.nodes[sink].stage.signature.kind == AnyStage.discardKind
    let facts = ValueFuture(
      node: sink, frame: record.entry.id, inputs: [value], isNeeded: true, isDigested: false
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
    for (node, future) in values[slot].futures.enumerated() {
      guard let future, record.started[node] == nil else { continue }
      if [.pure, .source].contains(plan.nodes[node].role) { workers.cancel(future) }
    }
    for node in plan.nodes.indices where plan.nodes[node].role == .pure {
      let items = values[slot].items[node] ?? []
      for (item, future) in items.enumerated() {
        guard let future, record.started(node, Work(slot: slot, item: item)) == nil else {
          continue
        }
        workers.cancel(future)
      }
    }
    pendingBySlot[slot] = nil
  }
}
