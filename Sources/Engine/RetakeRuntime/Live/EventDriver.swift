import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTimePlane

/// Runs bodies and notifies readers, on behalf of a driver of external events.
protocol EventHost: AnyObject {
  /// Starts a body. The end of the body comes back as an external event.
  func begin(_ call: BodyCall)
  /// How many items a forEach makes of a value, or the port to which a route sends it.
  func gateValue(_ question: GateQuestion) -> Int
  /// Prepares a stage that should replace a node's stage. An external event reports that it is
  /// ready.
  func prepare(_ swap: LiveSwap, index: Int)
  func delivered(_ delivery: LiveDelivery)
  /// The frame's outcome at every sink is decided.
  func settled(_ frame: LiveFrame)
}

/// Drives a decision core with external events. Each event has a different time. The driver is used
/// live, and again when a live run is reproduced. Everything that follows from an event is decided
/// before the next event is handled.
///
/// The driver never waits: values come with the events.
final class EventDriver: CoreDriver {
  let plan: GraphPlan
  let originNanoseconds: Int64
  private unowned let host: any EventHost
  private var core: DecisionCore
  private var stages: StageState
  /// By slot.
  var values: [FrameValues<any PipelineValue>] = []
  /// By slot.
  private var frames: [FrameInFlight] = []
  /// The slots of the frames in flight.
  private var slotOfFrame: [FrameID: Int] = [:]
  private let sourceOfTrack: [Int: Int]
  private var deviceEvents: [DeviceEvent] = []
  private var swaps: [LiveSwap] = []
  private var ledgers: LedgerTable
  private(set) var outcome = RunOutcome(headline: FrameLedger(), ledgers: [])
  /// The outputs that sinks hold, if pools count buffers.
  private var heldBySinks: Set<BodyName> = []
  private var actions: [Action] = []
  /// The outcome of the body whose end is being handled.
  private var ending: CompletionOutcome = .success
  private var gates: [GateValue] = []
  /// Receives leases and sizes of pools; `nil` if there is no observer.
  private var poolObserver: (any RunObserver)?
  private var poolReporter: PoolReporter
  /// The memory of the pools, which follows their sizes.
  private let memory: RunMemory
  private var lastNanoseconds = Int64.min

  /// - Parameters:
  ///   - memory: Of the frames; its pools get the sizes that the core decides on.
  ///   - tracks: The track that each source reads, by node.
  ///   - observer: Called with each decision.
  init(
    plan: GraphPlan, memory: RunMemory, tracks: [Int: Int], originNanoseconds: Int64,
    host: any EventHost, observer: ((DecisionLine) -> Void)?
  ) {
    (self.plan, self.memory) = (plan, memory)
    self.originNanoseconds = originNanoseconds
    self.host = host
    core = DecisionCore(plan: plan, rules: .live, observer: observer)
    stages = StageState(plan)
    ledgers = LedgerTable(sinks: plan.sinks.count)
    poolReporter = PoolReporter(plan)
    var sources: [Int: Int] = [:]
    for (node, track) in tracks { sources[track] = node }
    sourceOfTrack = sources
    outcome.tracks = sources.keys.sorted().map { RunOutcome.TrackCounts(track: $0) }
  }

  /// Reports leases and sizes of pools from now on.
  func reportPools(to observer: any RunObserver) {
    if !plan.pools.isEmpty { poolObserver = observer }
  }

  /// Live, each body of a batch ends by itself, and the server is free at the last end.
  func startBatch(node: Int, _ starts: [Action.Start]) {
    for item in starts { start(node: node, work: item.work, ready: item.ready) }
  }

  /// When the core has its next event, on the session's time line.
  var nextTimer: Int64? { core.nextKey?.time }
  var isHalted: Bool { core.isHalted }
  /// Frames, parts and items in flight.
  var tokensAlive: Int { core.tokensAlive }

  /// Handles an event and everything that follows from it.
  ///
  /// - Parameter value: The value that comes with the event: a frame's pixels, a body's output.
  /// - Returns: The gate values that were asked for meanwhile.
  /// - Throws: `RuntimeError.strayExternalEvent` for an event that is not possible now.
  func handle(
    _ stamped: StampedEvent, value: Carried = .nothing
  ) throws(RuntimeError) -> [GateValue] {
    guard stamped.nanoseconds > lastNanoseconds else {
      throw stray(stamped, "its time is not later than the previous event")
    }
    gates.removeAll(keepingCapacity: true)
    lastNanoseconds = stamped.nanoseconds
    // Timers that are due earlier come first, and may ask for gate values of their own.
    try settle(through: stamped.nanoseconds - 1)
    // stage-halt: there are no decisions after it.
    guard !core.isHalted else { return gates }
    try tell(stamped, value)
    try settle(through: stamped.nanoseconds)
    return gates
  }

  /// The value that comes with an event, in addition to the recorded event.
  enum Carried {
    case nothing
    case frame(FrameEntry, (any PipelineValue)?)
    case output((any PipelineValue)?)
    case swap(StageSwap)
  }

  private func tell(_ stamped: StampedEvent, _ value: Carried) throws(RuntimeError) {
    let time = stamped.nanoseconds
    switch stamped.event {
    case .arrival(let id): try arrive(id, value, damage: nil, stamped)
    case .allocationFailed(let id):
      // source-damaged: live, a frame for which there was no memory is treated like a damaged
      // frame.
      try arrive(id, value, damage: FailureCode.allocationFailed, stamped)
    case .completion(let body, let outcome):
      let work = try running(body, stamped)
      ending = outcome
      // stage-late: the value of a body that ended after its timeout is discarded.
      if case .output(let output?) = value, core.isOpen(node: body.node, work: work) {
        values[work.slotIndex][body.node, work] = output
      }
      core.addEnd(ofBody: body.node, work: work, time: time)
    case .timer: break
    case .leaseEnded(let sink, let frame):
      guard heldBySinks.remove(BodyName(node: sink, frame: frame)) != nil,
        let slot = slotOfFrame[frame]
      else { throw stray(stamped, "no sink holds the frame \(frame)") }
      // sink-hold: live, a sink ends its own lease, and it can do that once.
      core.addLeaseEnd(sink: sink, slot: slot, time: time)
    case .environment(let event):
      deviceEvents.append(event)
      // device-order: live, each event has its own instant; the index names it for the gates.
      core.addEnvironment(
        .environment, index: deviceEvents.count - 1, node: 0, time: time)
    case .command(.swap(let node, _, _)):
      guard case .swap(let swap) = value else { throw stray(stamped, "there is no stage") }
      swaps.append(LiveSwap(swap: swap, node: node))
      core.addEnvironment(.swapPrepare, index: swaps.count - 1, node: node, time: time)
      // swap-prepare: until the host's answer comes as an event, the old stage handles all frames.
      host.prepare(swaps[swaps.count - 1], index: swaps.count - 1)
    case .swapReady(let index, let refusal):
      guard swaps.indices.contains(index), !swaps[index].isDecided else {
        throw stray(stamped, "no swap \(index) is being prepared")
      }
      swaps[index].isDecided = true
      swaps[index].refusal = refusal
      core.addSwapReady(index: index, node: swaps[index].node, time: time)
    // Counted only. Frames of this track that come later are handled as before.
    case .sourceLost: outcome.sourcesLost += 1
    }
  }

  private func arrive(
    _ id: FrameID, _ value: Carried, damage: String?, _ stamped: StampedEvent
  ) throws(RuntimeError) {
    guard let source = sourceOfTrack[id.track] else {
      throw stray(stamped, "no source reads track \(id.track)")
    }
    guard slotOfFrame[id] == nil else { throw stray(stamped, "the frame \(id) is there already") }
    guard case .frame(let entry, let frame) = value else {
      throw stray(stamped, "there is no frame \(id)")
    }
    let slot = core.addArrival(source: source, id: id, time: stamped.nanoseconds)
    if slot >= values.count {
      values.append(FrameValues())
      frames.append(FrameInFlight())
    }
    frames[slot] = FrameInFlight(entry: entry, arrival: stamped.nanoseconds, damage: damage)
    values[slot] = FrameValues(nodes: plan.nodes.count)
    values[slot].outputs[source] = frame
    slotOfFrame[id] = slot
  }

  private func running(_ body: BodyName, _ stamped: StampedEvent) throws(RuntimeError) -> Work {
    guard plan.nodes[body.node].role.isServed, let slot = slotOfFrame[body.frame] else {
      throw stray(stamped, "no node works on the frame \(body.frame)")
    }
    let work = Work(slot: slot, item: body.item)
    guard core.isRunning(node: body.node, work: work) else {
      throw stray(stamped, "'\(plan.nodes[body.node].id)' does not work on \(body.frame)")
    }
    return work
  }

  private func stray(_ stamped: StampedEvent, _ detail: String) -> RuntimeError {
    .strayExternalEvent(ordinal: stamped.ordinal, detail: detail)
  }

  private func settle(through time: Int64) throws(RuntimeError) {
    var turn = EventContext(gates: self)
    Swift.swap(&turn.actions, &actions)
    // Bounded: the core bounds each instant, and each event that it schedules is a timer of a
    // frame.
    while let key = core.nextKey, key.time <= time, let event = try core.nextEvent() {
      core.handle(event, &turn)
      if let poolObserver { poolReporter.tell(poolObserver, of: core, at: event.key.time) }
      for action in turn.actions { carryOut(action) }
      turn.actions.removeAll(keepingCapacity: true)
      if !plan.pools.isEmpty { releaseMemory() }
    }
    Swift.swap(&turn.actions, &actions)
  }

  /// Releases the values whose buffers came back, and the memory of pools that shrank.
  private func releaseMemory() {
    for ended in core.takeEndedOutputs()
    where values[ended.slot].outputs.indices.contains(ended.node) {
      values[ended.slot][ended.node, ended.work] = nil
    }
    memory.follow(core)
  }

  // MARK: The end

  /// Ends the run. Frames without an outcome stay in flight.
  func finish() -> RunOutcome {
    let node = outcome.halt.flatMap { halt in plan.nodes.firstIndex { $0.id == halt.node } } ?? 0
    // source-stop: a frame that still waits at a source was never captured.
    for slot in core.waitingFrames { lose(slot) }
    let open = frames.compactMap { slot in slot.frame.map { ($0, slot.failures) } }
    // Slots are reused, so their order is not the order of the frames.
    for (frame, failures) in open.sorted(by: { $0.0.entry.id < $1.0.entry.id }) {
      let source = sourceOfTrack[frame.entry.id.track] ?? 0
      for position in plan.sinkPositions[source] where frame.isOpen[position] {
        end(
          frame, sink: plan.sinks[position], .inFlight, node: node, failure: failures[node])
      }
      frame.failures = failures.all
      host.settled(frame)
    }
    values = []
    frames = []
    return summary
  }

  /// The fates of the frames so far, in numbers. Frames without an outcome are in flight.
  var summary: RunOutcome {
    var outcome = outcome
    outcome.headline = headline
    outcome.ledgers = ledgers.entries(sinkIDs: plan.sinks.map { plan.nodes[$0].id })
    outcome.pools = poolCounts
    outcome.waits = waitCounts
    outcome.decisions = core.log.count
    return outcome
  }

  /// At the primary sink.
  var headline: FrameLedger {
    ledgers.total(ofSink: plan.sinks.firstIndex(of: plan.primarySink) ?? 0)
  }

  var decisions: Int { core.log.count }

  /// Counts of the pools that adapt to the load.
  var poolCounts: [PoolCounts] { core.poolCounts }

  /// Counts of the sources where frames have waited for a buffer.
  var waitCounts: [WaitCounts] { core.waitCounts }

  /// XXH3-128 of all decision lines.
  func decisionDigest() -> Digest128 { core.log.digest() }
}

/// Values pass from node to node unchanged. A value arrives with an earlier event than the event
/// that reads it.
extension EventDriver {
  func start(node: Int, work: Work, ready: Int64) {
    let slot = work.slotIndex
    guard let entry = frames[slot].entry else {
      preconditionFailure("what is served was captured")
    }
    let epoch = frames[slot].epoch
    host.begin(
      BodyCall(
        name: BodyName(node: node, frame: entry.id, item: Int(work.item)),
        nodeID: plan.nodes[node].id, body: stages.call(node, epoch: epoch),
        stage: MemoryGaps.Stage(
          node: node, version: stages.version(of: node, epoch: epoch),
          memory: stages.memory(of: node, epoch: epoch)),
        lane: plan.nodes[node].isPinned ? node : nil,
        context: StageContext(
          frame: entry.id, timestamp: timestamp(of: entry),
          item: work.isItem ? Int(work.item) : nil),
        input: input(of: node, work: work), readyNanoseconds: ready))
    // stage-timeout: from the decision to start; a thread may begin the body later.
    core.startTimer(node: node, work: work)
  }

  func kept(_ node: Int, of slot: Int) -> (any PipelineValue)? { values[slot].outputs[node] }

  func combine(
    _ inputs: [any PipelineValue], at node: Int, _ work: Work, as combination: Combination
  ) -> (any PipelineValue)? {
    combination.value(of: inputs)
  }

  // Values are not computed ahead, so it does not matter when a value is read or replaced.
  func use(_ value: any PipelineValue, of node: Int, slot: Int) {}
  func entered(_ item: Work, fork: Int) {}
  func forgetAhead(behind node: Int, slot: Int) {}
}

/// Carries out the core's decisions about frames.
extension EventDriver {
  func lose(_ slot: Int) {
    outcome.lostBeforeCapture += 1
    if core.slots[slot].source == plan.nodes[plan.primarySink].source { outcome.headlineLost += 1 }
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

  private func end(
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

/// The core asks these questions during an event, so these answers do not read the core.
extension EventDriver {
  func damage(slot: Int) -> String? { frames[slot].damage }

  func outcome(node: Int, work: Work) -> CompletionOutcome { ending }

  func keepsInput(node: Int, slot: Int) -> Bool {
    stages.keepsInput(node, epoch: frames[slot].epoch)
  }

  func itemCount(node: Int, slot: Int) -> Int {
    gate(.items, node: node, slot: slot)
  }

  func port(node: Int, slot: Int) -> Int {
    gate(.port, node: node, slot: slot)
  }

  private func gate(_ kind: GateQuestion.Kind, node: Int, slot: Int) -> Int {
    let id = frames[slot].entry?.id ?? FrameID(track: 0, sequence: 0)
    let question = GateQuestion(
      kind: kind, node: node, frame: id, input: input(of: node, work: Work(slot: slot)))
    let answer = host.gateValue(question)
    let value = kind == .port ? nearestPort(to: answer, of: node) : max(0, answer)
    // Recorded with the event: a reproduction answers the same, even if a value differs then.
    gates.append(GateValue(node: node, frame: id, value: value))
    return value
  }

  func deviceEvent(_ index: Int) -> DeviceEvent? { deviceEvents[index] }

  func swap(_ index: Int) -> (refusal: String?, prepareNanoseconds: Int64) {
    // swap-prepare: preparing has taken its real time already.
    (swaps[index].refusal, 0)
  }
}

/// The driver's record of a frame in flight, apart from its values.
private struct FrameInFlight {
  var entry: FrameEntry?
  var arrival: Int64 = 0
  /// The code of the frame's failure at its source; `nil` for an intact frame.
  var damage: String?
  /// The number of swaps that were in force when the frame arrived.
  var epoch = 0
  var failures = FrameFailures()
  /// Set from capture until everything is decided.
  var frame: LiveFrame?
}
