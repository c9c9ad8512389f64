import RetakeCore
import RetakeGraph
import RetakeTimePlane

/// The outcome of each captured frame.
extension VirtualRun {
  func capture(_ slot: Int) {
    guard let frame = announced[slot] else { return }
    announced[slot] = nil
    let record = PendingFrame(
      entry: frame.entry, arrival: frame.time, epoch: core.slots[slot].epoch,
      nodes: plan.nodes.count, sinks: plan.sinks.count)
    for position in plan.sinkPositions[core.slots[slot].source] {
      record.sinks[position] = .open
      ledgers.capture(track: frame.entry.id.track, sink: position)
    }
    pending.append(record)
    pendingBySlot[slot] = record
    // swap-epoch: a swap came into force between reading ahead and arrival.
    if record.epoch != frame.epoch { forgetAhead(slot, source: core.slots[slot].source) }
  }

  /// Values that were computed ahead with stages no longer in force are computed again when needed.
  private func forgetAhead(_ slot: Int, source: Int) {
    for node in values[slot].outputs.indices where node != source {
      guard let future = values[slot].outputs[node] else { continue }
      if plan.nodes[node].role == .pure { workers.cancel(future) }
      values[slot].outputs[node] = nil
    }
  }

  func lose(_ slot: Int) {
    // source-lost: no ledger counts the frame, and values that were computed ahead are not used.
    outcome.lostBeforeCapture += 1
    let source = core.slots[slot].source
    outcome.lostBySource[plan.nodes[source].id, default: 0] += 1
    // ledger: the headline counts the frames of one source, captured or not.
    if source == plan.nodes[plan.primarySink].source { outcome.headlineLost += 1 }
    announced[slot] = nil
    for case let future? in values[slot].outputs { workers.cancel(future) }
  }

  func deliver(_ given: ValueFuture?, to sink: Int, slot: Int) {
    guard let record = pendingBySlot[slot], let position = plan.sinks.firstIndex(of: sink),
      let given
    else { preconditionFailure("what is delivered has a value") }
    let value = programOuts(in: given, for: sink, of: record)
    let isDiscarded = plan.nodes[sink].stage.signature.kind == AnyStage.discardKind
    let facts = ValueFuture(
      node: sink, frame: record.entry.id, inputs: [value], isNeeded: true, isDigested: false
    ) { inputs in
      guard case .value(let value) = inputs[0] else { return inputs[0] }
      return .value(FactsValue(facts: isDiscarded ? [] : value.facts))
    }
    workers.submit(facts)
    record.sinks[position] = .delivered(facts: facts, value: value)
    // ledger: counted when it is decided; the value may still be computing.
    ledgers.count(.delivered, sink: position, track: record.entry.id.track)
  }

  func end(sink: Int, slot: Int, _ fate: FrameFate, node: Int) {
    guard let record = pendingBySlot[slot], let position = plan.sinks.firstIndex(of: sink) else {
      preconditionFailure("what ends was captured")
    }
    record.sinks[position] = .ended(fate, node: node)
    ledgers.count(fate, sink: position, track: record.entry.id.track)
  }

  /// Everything about the frame is decided. The set of unused values is known now, but a latest
  /// join may still keep and read it.
  func settle(_ slot: Int) {
    guard let record = pendingBySlot[slot] else { return }
    record.isSettled = true
    settledCount += 1
    for node in plan.nodes.indices where plan.nodes[node].isComputedAhead {
      if let future = values[slot].outputs[node], record.started.outputs[node] == nil {
        leave(future, slot: slot)
      }
      guard !values[slot].items.isEmpty else { continue }
      for (item, future) in (values[slot].items[node] ?? []).enumerated() {
        guard let future, record.started[node, Work(slot: slot, item: item)] == nil else {
          continue
        }
        leave(future, slot: slot)
      }
    }
    pendingBySlot[slot] = nil
  }

  private func leave(_ future: ValueFuture, slot: Int) {
    guard !unusedValues[slot].read.contains(where: { $0 === future }) else { return }
    unusedValues[slot].leftovers.append(future)
  }

  /// The frame's values have no more readers.
  func free(_ slot: Int) {
    for future in unusedValues[slot].leftovers { workers.cancel(future) }
    unusedValues[slot] = UnusedValues()
    values[slot] = FrameValues()
  }

  func kept(_ node: Int, of slot: Int) -> ValueFuture? {
    guard let future = values[slot].outputs[node] else { return nil }
    workers.need(future)
    unusedValues[slot].read.append(future)
    unusedValues[slot].leftovers.removeAll { $0 === future }
    return future
  }
}
