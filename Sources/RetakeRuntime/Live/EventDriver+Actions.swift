import RetakeCore
import RetakeGraph
import RetakeTimePlane

/// What the core decided about frames.
extension EventDriver {
  func lose(_ slot: Int) {
    outcome.lostBeforeCapture += 1
    if let place = place(ofTrack: core.slots[slot].id.track) {
      outcome.tracks[place].lostBeforeCapture += 1
    }
  }

  private func place(ofTrack track: Int) -> Int? {
    outcome.tracks.firstIndex { $0.track == track }
  }

  func capture(_ slot: Int) {
    guard let entry = frames[slot].entry else { return }
    if let place = place(ofTrack: entry.id.track) { outcome.tracks[place].captured += 1 }
    let frame = LiveFrame(
      entry: entry, timestamp: timestamp(of: entry), arrival: frames[slot].arrival,
      sinks: plan.sinks.count)
    frames[slot].frame = frame
    // swap-epoch: which stages handle the frame is known at capture.
    frames[slot].epoch = core.slots[slot].epoch
    for position in plan.sinkPositions[core.slots[slot].source] {
      frame.isOpen[position] = true
      ledgers.capture(track: entry.id.track, sink: position)
    }
  }

  func deliver(_ value: (any PipelineValue)?, to sink: Int, slot: Int) {
    guard let frame = frames[slot].frame, let position = plan.sinks.firstIndex(of: sink) else {
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
        content: .value(value)))
  }

  func end(sink: Int, slot: Int, _ fate: FrameFate, node: Int) {
    guard let frame = frames[slot].frame else { return }
    end(frame, sink: sink, fate, node: node, failure: frames[slot].failures[node])
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

  func report(_ error: StageError, node: Int, work: Work) {
    let failure = StageFailure(
      error, at: core.slots[work.slotIndex].id, work, node: plan.nodes[node].id)
    frames[work.slotIndex].failures.note(failure, node: node)
    outcome.note(failure)
  }

  func halt(node: Int, slot: Int) { outcome.halt = frames[slot].failures[node] }

  func settle(_ slot: Int) {
    guard let frame = frames[slot].frame.take() else { return }
    frame.failures = frames[slot].failures.all
    host.settled(frame)
  }

  func free(_ slot: Int) {
    slotOfFrame[core.slots[slot].id] = nil
    values[slot] = FrameValues()
    frames[slot] = FrameInFlight()
  }

  func putInForce(_ index: Int) {
    let swap = swaps[index]
    // swap-epoch: the new stage is added. Frames of earlier epochs still find the old one.
    stages.swap(node: swap.node, to: swap.swap.stage, cost: swap.swap.cost)
  }
}
