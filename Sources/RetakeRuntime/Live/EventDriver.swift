import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTimePlane

/// Does what a driver of external events cannot decide: it runs bodies and notifies readers.
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

/// Drives a decision core with external events. Each event has a time of its own. The driver is
/// used live, and again when a live run is reenacted. Everything that follows from an event is
/// decided before the next event is handled.
///
/// The driver never waits: values come with the events.
final class EventDriver {
  let plan: GraphPlan
  /// Subtracted from the frames' times before stages see them.
  let originNanoseconds: Int64
  unowned let host: any EventHost
  var core: DecisionCore
  var stages: StageBook
  /// By slot.
  var values: [LiveValues] = []
  /// The slots of the frames in flight.
  var slotOfFrame: [FrameID: Int] = [:]
  let sourceOfTrack: [Int: Int]
  var device = DeviceState()
  private(set) var deviceEvents: [DeviceEvent] = []
  private(set) var swaps: [LiveSwap] = []
  var ledgers: LedgerBook
  var outcome = RunOutcome(headline: FrameLedger(), ledgers: [])
  /// What sinks hold, if pools count buffers.
  var heldBySinks: Set<BodyName> = []
  private var actions: [Action] = []
  /// The outcome of the body whose end is being handled.
  private(set) var ending: CompletionOutcome = .success
  var gates: [GateValue] = []
  /// Receives leases and sizes of pools; `nil` if there is no observer.
  private var poolObserver: (any RunObserver)?
  private var poolTeller: PoolTeller
  private(set) var lastNanoseconds = Int64.min

  /// - Parameters:
  ///   - tracks: The track that each source reads, by node.
  ///   - observer: Called with each decision.
  init(
    plan: GraphPlan, tracks: [Int: Int], originNanoseconds: Int64, host: any EventHost,
    observer: ((DecisionLine) -> Void)?
  ) {
    self.plan = plan
    self.originNanoseconds = originNanoseconds
    self.host = host
    core = DecisionCore(plan: plan, rules: .live, observer: observer)
    stages = StageBook(plan)
    ledgers = LedgerBook(sinks: plan.sinks.count)
    poolTeller = PoolTeller(plan)
    var sources: [Int: Int] = [:]
    for (node, track) in tracks { sources[track] = node }
    sourceOfTrack = sources
    outcome.tracks = sources.keys.sorted().map { RunOutcome.TrackCounts(track: $0) }
  }

  /// Reports leases and sizes of pools from now on.
  func reportPools(to observer: any RunObserver) {
    if !plan.pools.isEmpty { poolObserver = observer }
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
      throw stray(stamped, "its time is not after the one before")
    }
    gates.removeAll(keepingCapacity: true)
    lastNanoseconds = stamped.nanoseconds
    // Timers that are due earlier come first, and may ask for gate values of their own.
    try settle(through: stamped.nanoseconds - 1)
    // stage-halt: nothing is decided after it.
    guard !core.isHalted else { return gates }
    try tell(stamped, value)
    try settle(through: stamped.nanoseconds)
    return gates
  }

  /// The value that comes with an event, in addition to what is recorded of the event.
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
      // source-damaged: live, a frame for which there was no memory is treated like a damaged one.
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
      // device-order: live, each event has an instant of its own; the index names it for the gates.
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
    while values.count <= slot { values.append(LiveValues()) }
    values[slot] = LiveValues(
      entry: entry, arrival: stamped.nanoseconds, damage: damage, nodes: plan.nodes.count)
    values[slot].outputs[source] = frame
    slotOfFrame[id] = slot
  }

  private func running(_ body: BodyName, _ stamped: StampedEvent) throws(RuntimeError) -> Work {
    guard plan.nodes[body.node].role.isServed, let slot = slotOfFrame[body.frame] else {
      throw stray(stamped, "nothing works on the frame \(body.frame)")
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
    var turn = Turn(gates: self)
    Swift.swap(&turn.actions, &actions)
    // Bounded: the core bounds each instant, and each event that it schedules is a timer of a
    // frame.
    while let key = core.nextKey, key.time <= time, let event = try core.nextEvent() {
      core.handle(event, &turn)
      if let poolObserver { poolTeller.tell(poolObserver, of: core, at: event.key.time) }
      for action in turn.actions { carryOut(action) }
      turn.actions.removeAll(keepingCapacity: true)
    }
    Swift.swap(&turn.actions, &actions)
  }

  // MARK: The end

  /// Ends the run. What has no outcome yet stays in flight.
  func finish() -> RunOutcome {
    let node = outcome.halt.flatMap { halt in plan.nodes.firstIndex { $0.id == halt.node } } ?? 0
    let open = values.compactMap { value in value.frame.map { ($0, value.failures) } }
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
    return summary
  }

  /// What became of the frames so far. Frames without an outcome are in flight.
  var summary: RunOutcome {
    var outcome = outcome
    outcome.headline = headline
    outcome.ledgers = ledgers.entries(sinkIDs: plan.sinks.map { plan.nodes[$0].id })
    outcome.pools = poolCounts
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

  /// XXH3-128 of all decision lines.
  func decisionDigest() -> Digest128 { core.log.digest() }
}
