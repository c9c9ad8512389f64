import RetakeCore
import RetakeGraph
import RetakeTimePlane

/// Carries out the actions that the core decided on.
extension EventDriver {
  func carryOut(_ action: Action) {
    switch action {
    case .captured(let slot): capture(slot)
    case .lost(let slot): lose(slot)
    case .start(let node, let work, let ready): start(node: node, work: work, ready: ready)
    case .pass(let node, let slot):
      values[slot].outputs[node] = input(of: node, work: Work(slot: slot))
    case .fallback(let node, let slot, let previous):
      values[slot].outputs[node] = values[previous].outputs[node]
    case .fanOut(let node, let slot, let items): fanOut(node: node, slot: slot, items: items)
    case .gather(let node, let slot): gather(node: node, slot: slot)
    case .join(let node, let slot, let ports): join(node: node, slot: slot, ports: ports)
    case .latest(let node, let slot, let others): latest(node: node, slot: slot, others: others)
    case .deliver(let sink, let slot): deliver(sink: sink, slot: slot)
    case .end(let sink, let slot, let fate, let node):
      end(sink: sink, slot: slot, fate, node: node)
    case .report(let node, let work, let error): report(node: node, work: work, error)
    case .settled(let slot):
      if let frame = values[slot].frame.take() {
        frame.failures = values[slot].failures.all
        host.settled(frame)
      }
    case .freed(let slot):
      slotOfFrame[core.slots[slot].id] = nil
      values[slot] = LiveValues()
    case .swapped(let index):
      let swap = swaps[index]
      // swap-epoch: the new stage is added. Frames of earlier epochs still find the old one.
      stages.swap(node: swap.node, to: swap.swap.stage, cost: swap.swap.cost)
    case .halt(let node, let work): outcome.halt = values[work.slotIndex].failures[node]
    }
  }

  // MARK: Frames

  private func lose(_ slot: Int) {
    outcome.lostBeforeCapture += 1
    if let place = place(ofTrack: core.slots[slot].id.track) {
      outcome.tracks[place].lostBeforeCapture += 1
    }
  }

  private func place(ofTrack track: Int) -> Int? {
    outcome.tracks.firstIndex { $0.track == track }
  }

  private func capture(_ slot: Int) {
    guard let entry = values[slot].entry else { return }
    if let place = place(ofTrack: entry.id.track) { outcome.tracks[place].captured += 1 }
    let frame = LiveFrame(
      entry: entry, timestamp: timestamp(of: entry), arrival: values[slot].arrival,
      sinks: plan.sinks.count)
    values[slot].frame = frame
    // swap-epoch: which stages handle the frame is known at capture.
    values[slot].epoch = core.slots[slot].epoch
    for position in plan.sinkPositions[core.slots[slot].source] {
      frame.isOpen[position] = true
      ledgers.capture(track: entry.id.track, sink: position)
    }
  }

  private func deliver(sink: Int, slot: Int) {
    guard let frame = values[slot].frame, let position = plan.sinks.firstIndex(of: sink) else {
      preconditionFailure("what is delivered was captured")
    }
    frame.isOpen[position] = false
    ledgers.count(.delivered, sink: position, track: frame.entry.id.track)
    if core.holdsAtSinks {
      // sink-hold: the buffers are free when the end of this lease comes as an event.
      heldBySinks.insert(BodyName(node: sink, frame: frame.entry.id))
    }
    host.delivered(
      LiveDelivery(
        frame: frame, sink: sink, position: position, nanoseconds: core.now,
        content: .value(input(of: sink, work: Work(slot: slot)))))
  }

  private func end(sink: Int, slot: Int, _ fate: FrameFate, node: Int) {
    guard let frame = values[slot].frame else { return }
    end(frame, sink: sink, fate, node: node, failure: values[slot].failures[node])
  }

  func end(
    _ frame: LiveFrame, sink: Int, _ fate: FrameFate, node: Int, failure: StageFailure?
  ) {
    guard let position = plan.sinks.firstIndex(of: sink) else { return }
    frame.isOpen[position] = false
    ledgers.count(fate, sink: position, track: frame.entry.id.track)
    host.delivered(
      LiveDelivery(
        frame: frame, sink: sink, position: position, nanoseconds: core.now,
        content: .ended(fate, node: plan.nodes[node].id), failure: failure))
  }

  private func report(node: Int, work: Work, _ error: StageError) {
    if work.isItem, let fork = plan.nodes[node].fork {
      values[work.slotIndex].failedItems[fork, default: [:]][Int(work.item)] = error.code
    }
    let failure = StageFailure(
      error, at: core.slots[work.slotIndex].id, work, node: plan.nodes[node].id)
    values[work.slotIndex].failures.note(failure, node: node)
    outcome.note(failure)
  }
}
