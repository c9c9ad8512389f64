import RetakeBuffers
import RetakeGraph
import RetakeTimePlane

/// Reads frames, and computes the pure stages downstream of the source, before virtual time needs
/// them.
extension VirtualRun {
  func announceNext(after event: Event) throws {
    guard let source = sources.firstIndex(where: { $0.node == Int(event.target) }) else { return }
    try announce(source: source)
  }

  /// Announces the source's next frame to the core, and keeps later frames computing.
  func announce(source: Int) throws {
    try runAhead(source: source)
    guard let frame = sources[source].ahead.popFirst() else { return }
    sources[source].announcedMissing += frame.missingBefore
    let slot = core.addArrival(
      source: sources[source].node, id: frame.entry.id, time: frame.time,
      lowestToCome: frame.lowestToCome)
    // The core reuses slots, so the arrays grow only to the number of frames in flight.
    if slot >= values.count {
      values.append(FrameValues())
      unusedValues.append(UnusedValues())
      pendingBySlot.append(nil)
      announced.append(nil)
    }
    values[slot].outputs = frame.futures
    announced[slot] = frame
  }

  /// If the time plane's thread is the only one, no value is computed ahead.
  var runsAhead: Bool { options.runAhead && options.workers > 1 }

  private func runAhead(source: Int) throws {
    let depth = runsAhead ? window : 1
    while sources[source].ahead.count < depth {
      let missing = sources[source].schedule.payloadMissing
      guard let (entry, time) = try sources[source].schedule.nextFrame() else { return }
      sources[source].ahead.append(
        AheadFrame(
          entry: entry, time: time, lowestToCome: sources[source].schedule.lowestToCome,
          futures: futures(for: entry, source: source), epoch: core.epoch,
          missingBefore: sources[source].schedule.payloadMissing - missing))
    }
  }

  private func futures(for entry: FrameEntry, source: Int) -> [ValueFuture?] {
    var futures = [ValueFuture?](repeating: nil, count: plan.nodes.count)
    // source-damaged: the frame is not read, so no reader has to handle a damaged frame.
    guard entry.damage == nil else { return futures }
    let root = sources[source].node
    let steps = runsAhead ? plan.aheadSteps[root] : []
    let hold = isGated ? FrameHold(futures: 1 + steps.count { $0.isPure }) : nil
    let read = makeRead(entry, source: source, hold: hold)
    futures[root] = read
    // Submitted in reverse order, so that each computation leads to the next on the same thread,
    // and no other thread has to be woken.
    var made = [read]
    defer { for future in made.reversed() { workers.submit(future) } }
    for step in steps {
      guard let input = futures[step.from] else {
        preconditionFailure("what runs ahead follows the source, step by step")
      }
      guard step.isPure else {
        // A node that thins passes the value on. If it ends the frame, the computed value is not
        // used.
        futures[step.node] = input
        continue
      }
      let stage = stageFuture(
        step.node, entry: entry, input: input, epoch: core.epoch, isNeeded: isEverythingNeeded,
        hold: hold)
      futures[step.node] = stage
      made.append(stage)
    }
    return futures
  }

  /// In `every-frame`, everything that is computed ahead is needed; otherwise it is speculation.
  var isEverythingNeeded: Bool { options.mode == .everyFrame }

  /// The caller submits the future.
  private func makeRead(_ entry: FrameEntry, source: Int, hold: FrameHold?) -> ValueFuture {
    let reader = sources[source].reader
    let id = entry.id
    let timestamp = timestamp(of: entry)
    let supply = stageRun.memory.flatMap { $0.supply(of: plan.nodes[sources[source].node].id) }
    let load = { @Sendable () -> ValueOutcome in
      do {
        var frame = try FrameSupply.using(supply) { try reader.frame(id) }
        try frame.requireForeseenFormat(among: reader)
        frame.id = id
        frame.timestamp = timestamp
        return .value(frame)
      } catch {
        return .fault(RuntimeError.unreadable(id, error))
      }
    }
    let demand = demand(ofNode: sources[source].node, epoch: core.epoch)
    let reads = lastingReads(demand)
    let cached = options.cache.map {
      CachedRead(
        cache: $0, demand: demand,
        context: StageContext(frame: id, timestamp: timestamp))
    }
    let chain = reader.chain(of: id)
    // The reads of one chain are made one after another, in the order in which frames arrive.
    let inputs = sources[source].tail(ofChain: chain).map { [$0] } ?? []
    let future = ValueFuture(
      node: sources[source].node, frame: id, inputs: inputs, isNeeded: isEverythingNeeded,
      isDigested: observer.wantsDigests, hold: hold, opensHold: true
    ) { _ in (cached?.outcome(load) ?? load()).lasting(reads, again: load) }
    sources[source].setTail(future, ofChain: chain)
    return future
  }
}

extension Frame {
  /// Refuses a frame of a format that is neither in `PixelFormat.basic` nor declared by its track:
  /// no stage was checked for this format, and no `convert` was inserted for it.
  fileprivate func requireForeseenFormat(among reader: any FrameReader) throws {
    guard !format.isBasic else { return }
    let known = reader.tracks.first { $0.track == id.track }
    guard known.map({ $0.format != format && !$0.otherFormats.contains(format) }) ?? true else {
      return
    }
    throw StageError(
      code: "frame.format",
      message: "the frame is \(format.rawValue), and its track began with "
        + "\(known?.format.rawValue ?? "another format")")
  }
}
