package import RetakeCore

/// Makes every decision that depends on time. It does no I/O: events in, actions and decision lines
/// out.
///
/// The core owns the events that it creates itself. Its driver adds arrivals, completions and
/// changes from outside, pops the next event, and passes it back together with the gates, through
/// which the core asks for the few values that timing decisions depend on.
package struct DecisionCore: ~Copyable {
  let plan: GraphPlan
  let rules: Rules
  // By edge, node, executor or pool. The state of each machine, table and book is private: the core
  // coordinates them, and cannot break their invariants.
  var queues: [QueueStateMachine]
  var offers: [OfferStateMachine]
  var concurrency: [ConcurrencyStateMachine]
  /// By node: a batch does not wait for more frames if its first frame was accepted by then.
  var batchesDue: [Int64]
  var services: [ServiceStateMachine]
  var thinnings: [Thinning?]
  var forks: [ForkStateMachine]
  var gathers: [GatherStateMachine]
  var joins: [JoinStateMachine?]
  /// By node, then port; the first port of each is never read.
  var latests: [[LatestStateMachine]]
  var screens: [ScreenStateMachine?]
  var leases: LeaseTable
  /// By node; only sources use them.
  var captures: [CaptureStateMachine]
  /// `nil` for pools that do not adapt to the load.
  var sizings: [SizingStateMachine?]
  /// `nil` without a heat model.
  var heat: HeatStateMachine?
  /// Whether an override has given a temperature, so that the model's no longer counts for rules.
  var isTemperatureOverridden = false
  /// By node; see `GraphPlan.frameBytes`. Empty without a heat model.
  package let frameBytes: [Int]
  /// The known state of the device.
  package internal(set) var device = DeviceState()
  package internal(set) var slots: SlotTable
  var endings = EndingTable()
  /// Throttles whose policy decides again in this instant.
  var isPolicyPending: [Bool]
  private var events = EventQueue()
  package var log: DecisionLog
  private(set) var current: EventKey
  private var lastKey: EventKey?
  private let bound: MicrostepBound
  private var microstepsMax = 0
  package internal(set) var epoch = 0
  package internal(set) var isHalted = false

  /// The rules of a mode.
  package struct Rules: Hashable, Sendable {
    /// Whether queues and pools are bounded, and timeouts and policies apply.
    package var isBounded: Bool
    /// Whether bodies, swaps and sinks end when the driver reports it, not when a model decides it.
    package var isLive = false

    package static let everyFrame = Rules(isBounded: false)
    package static let simulate = Rules(isBounded: true)
    package static let live = Rules(isBounded: true, isLive: true)
  }

  /// - Parameter profile: The profile of the run's device. Its heat has an effect only in
  ///   `simulate`.
  /// - Parameter frameBytes: See `GraphPlan.frameBytes`.
  package init(
    plan: GraphPlan, rules: Rules, profile: DeviceProfile? = nil, frameBytes: [Int] = [],
    observer: ((DecisionLine) -> Void)? = nil
  ) {
    self.plan = plan
    self.rules = rules
    heat = rules == .simulate ? profile?.heatMachine(for: plan) : nil
    self.frameBytes = frameBytes.isEmpty ? plan.nodes.map { _ in 0 } : frameBytes
    // `every-frame`: no queue has a limit, so no edge ever drops, replaces or blocks a frame.
    queues = plan.edges.map {
      rules.isBounded
        ? QueueStateMachine(capacity: $0.capacity, policy: $0.policy)
        : QueueStateMachine(capacity: .max, policy: .block)
    }
    offers = plan.nodes.map { _ in OfferStateMachine() }
    concurrency = plan.nodes.map { ConcurrencyStateMachine(count: $0.concurrency) }
    batchesDue = plan.nodes.map { _ in .min }
    services = plan.executors.map { ServiceStateMachine(servers: $0.count) }
    thinnings = plan.nodes.map { Thinning($0.stage) }
    forks = plan.nodes.map { _ in ForkStateMachine() }
    gathers = plan.nodes.map { _ in GatherStateMachine() }
    joins = plan.nodes.map {
      guard case .join(let mode) = $0.stage.body else { return nil }
      return JoinStateMachine(mode: mode, ports: $0.inEdges.count)
    }
    latests = plan.nodes.map { node in
      guard node.role == .latest else { return [] }
      return node.inEdges.map { edge in
        LatestStateMachine(
          isSameTrack: plan.nodes[plan.edges[edge].from].source == node.source)
      }
    }
    leases = LeaseTable(pools: plan.pools, notesEnds: rules.isLive)
    captures = plan.nodes.map { node in
      CaptureStateMachine(
        source: node.id, driverFrames: node.pool.map { plan.pools[$0].driverFrames } ?? 0)
    }
    sizings = plan.pools.indices.map { pool in
      rules.isBounded ? SizingStateMachine(pool: pool, of: plan) : nil
    }
    for (pool, sizing) in sizings.enumerated() {
      // The controller keeps the declared capacity within its own bounds.
      if let sizing { leases.setCapacity(sizing.size, of: pool) }
    }
    screens = Self.screens(of: plan, rules)
    isPolicyPending = plan.nodes.map { _ in false }
    slots = SlotTable(nodes: plan.nodes.count)
    log = DecisionLog(nodeIDs: plan.nodes.map(\.id), observer: observer)
    current = EventKey(time: .min, band: .environment, phase: .arrival, node: 0)
    bound = MicrostepBound(nodes: plan.nodes.count)
  }

  // MARK: Events

  package var nextKey: EventKey? { events.first?.key }

  /// The number of events that are to come.
  var eventCount: Int { events.count }

  /// Virtual time, in nanoseconds, of the event that is being handled.
  package var now: Int64 { current.time }

  /// Frames and items in flight.
  package var tokensAlive: Int { slots.tokens }

  /// The next event in the total order.
  ///
  /// - Throws: `DecisionError.endlessInstant` if an instant never ends.
  package mutating func popEvent() throws(DecisionError) -> Event? {
    guard !isHalted, let event = events.pop() else { return nil }
    // order-same-instant: a new event never comes before a handled event, so keys only rise.
    precondition(lastKey.map { $0 < event.key } ?? true, "event keys strictly increase")
    if event.key.time != lastKey?.time {
      microstepsMax = MicrostepBound.slack + bound.steps(tokens: tokensAlive)
    }
    // The frame may have been announced after this instant began, and is then not in its bound yet.
    if event.kind == .arrival { allowMicrosteps(forTokens: 1) }
    // order-bound: a graph with a loop without delay gets
    // an error that names a node; it does not run forever.
    guard event.key.microstep <= microstepsMax else {
      throw .endlessInstant(
        nanoseconds: event.key.time, node: plan.nodes[event.key.node].id)
    }
    lastKey = event.key
    current = event.key
    return event
  }

  /// Frames that arrive and items that are created at this instant need microsteps of their own.
  mutating func allowMicrosteps(forTokens tokens: Int) {
    microstepsMax += bound.steps(tokens: tokens)
  }

  /// Announces a frame: it arrives at the source at the given virtual time.
  ///
  /// - Parameter lowestToCome: The lowest sequence of the source's frames that arrive after this
  ///   one; by default, they arrive in the order of their sequence.
  /// - Returns: The slot that identifies the frame until it is lost or freed.
  @discardableResult
  package mutating func addArrival(
    source: Int, id: FrameID, time: Int64, lowestToCome: Int? = nil
  ) -> Int {
    let slot = slots.add(
      id, arrival: time, source: source, sinks: plan.sinkPositions[source].count,
      lowestToCome: lowestToCome ?? id.sequence + 1)
    // order-later: arrivals have a separate band, after all services that end at the same instant
    // and may free a place for them.
    let key = EventKey(
      time: time, band: .arrivals, phase: .arrival, node: source, track: id.track,
      sequence: id.sequence)
    announceHeat(source: source, time: time)
    events.push(Event(key: key, kind: .arrival, target: source, work: Work(slot: slot)))
    return slot
  }

  /// Schedules the end of the body that was started; `time` is not before now.
  package mutating func addCompletion(node: Int, work: Work, time: Int64) {
    push(.completion, phase: .completion, node: node, work: work, at: time)
    // stage-timeout: an end at exactly start + timeout is in
    // time, so it needs no timer. `every-frame` has no timeouts.
    guard rules.isBounded, let timeout = plan.nodes[node].timeoutNanoseconds,
      time - current.time > timeout
    else { return }
    addStageTimeout(node: node, work: work)
  }

  /// Schedules a change of the environment.
  ///
  /// - Parameter index: Its index among all such events, which orders them within an instant.
  package mutating func addEnvironment(_ kind: Event.Kind, index: Int, node: Int, time: Int64) {
    // device-order: the node is 0 for all of them, so that
    // the index alone orders the events of one instant.
    let key = EventKey(
      time: time, band: .environment, phase: .arrival, node: 0, ordinal: index)
    events.push(Event(key: key, kind: kind, target: node, extra: index))
  }

  /// Handles one event.
  package mutating func handle(_ event: Event, _ turn: inout EventContext) {
    let target = Int(event.target)
    let work = event.work
    measureHeat(until: event)
    switch event.kind {
    case .arrival: arrive(source: target, slot: work.slotIndex, &turn)
    case .completion: complete(node: target, work, &turn)
    case .delivery: deliver(edge: Int(event.extra), work, &turn)
    case .unblock: unblock(edge: Int(event.extra), &turn)
    case .tombstone: passTombstone(node: target, work, Tombstone(event), &turn)
    case .dispatch: dispatch(executor: target, &turn)
    case .halt: halt(node: target, work, ending: Int(event.extra), &turn)
    case .stageTimeout: timeOut(stage: target, work, generation: event.extra, &turn)
    case .batchWait: endBatchWait(of: target)
    case .joinTimeout: timeOut(join: target, work, generation: event.extra, &turn)
    case .emptyFrame: closeEmpty(gather: target, slot: work.slotIndex, &turn)
    case .latest: readLatest(node: target, work, &turn)
    case .holdEnd: endHold(sink: target, work, &turn)
    case .environment: changeDevice(index: Int(event.extra), &turn)
    case .heat: tickHeat(isBeginning: event.extra > 0)
    case .policy: decidePolicy(node: target)
    case .swapPrepare: prepareSwap(index: Int(event.extra), node: target, &turn)
    case .swapReady: finishSwap(index: Int(event.extra), node: target, &turn)
    case .poolWindow: endWindow(pool: target)
    case .poolPressure: press(pool: target, bits: Int(event.extra))
    case .poolResized: putInForce(pool: target, size: Int(event.extra))
    case .vsync: refresh(screen: target)
    case .captureAsk: askAgain(source: target, &turn)
    case .captureLimit: endWait(source: target, work, generation: event.extra, &turn)
    }
  }

  /// Creates an event for now or later. An event for the current instant keeps the band and gets
  /// the microstep that its key needs. A later event is in the release band.
  mutating func push(
    _ kind: Event.Kind, phase: EventPhase, node: Int, work: Work, at time: Int64,
    port: Int = 0, extra: Int = -1
  ) {
    let id = slots[work.slotIndex].id
    // order-same-instant: an event for now may need the next microstep. order-later: any other
    // begins at microstep 0 of band 1.
    let key =
      time == current.time
      ? EventKey.following(
        current, phase: phase, node: node, track: id.track, sequence: id.sequence,
        item: Int(work.item), ordinal: port)
      : EventKey(
        time: time, band: .release, phase: phase, node: node, track: id.track,
        sequence: id.sequence, item: Int(work.item), ordinal: port)
    events.push(Event(key: key, kind: kind, target: node, work: work, extra: extra))
  }

  mutating func push(_ event: Event) { events.push(event) }

  // MARK: Frames

  /// One part or item fewer is in flight.
  mutating func endToken(_ slot: Int, _ turn: inout EventContext) {
    carryOut(slots.endToken(slot), slot, &turn)
  }

  mutating func settleSink(_ slot: Int, _ turn: inout EventContext) {
    // ledger: each sink that counts the frame settles it once, by a delivery or by a tombstone.
    carryOut(slots.settleSink(slot), slot, &turn)
  }

  private mutating func carryOut(
    _ change: SlotTable.Change, _ slot: Int, _ turn: inout EventContext
  ) {
    guard change != .none else { return }
    turn.actions.append(.settled(slot: slot))
    if change == .settledAndFree { tellFree(slot, &turn) }
  }

  /// A value of the frame that was kept is not needed any more.
  mutating func release(_ slot: Int, _ turn: inout EventContext) {
    if slots.release(slot) { tellFree(slot, &turn) }
  }

  /// A lost frame is treated as if it had never arrived.
  mutating func forgetLost(_ slot: Int, _ turn: inout EventContext) {
    slots.forgetLost(slot)
    turn.actions.append(.lost(slot: slot))
    tellFree(slot, &turn)
  }

  private mutating func tellFree(_ slot: Int, _ turn: inout EventContext) {
    leases.clear(slot: slot)
    turn.actions.append(.freed(slot: slot))
  }

  // MARK: Lines

  mutating func decide(
    _ kind: DecisionKind, node: Int, _ work: Work, _ detail: Decision.Detail = .none
  ) {
    log.append(
      Decision(
        time: current.time, node: node, frame: slots[work.slotIndex].id, item: work.item,
        kind: kind, detail: detail))
  }

  /// A line about a node, without a frame.
  mutating func decide(_ kind: DecisionKind, node: Int, _ detail: Decision.Detail = .none) {
    log.append(
      Decision(
        time: current.time, node: node, frame: nil, item: -1, kind: kind, detail: detail))
  }

  private mutating func halt(node: Int, _ work: Work, ending: Int, _ turn: inout EventContext) {
    guard case .failed(let code) = endings[ending].fate else { return }
    decide(.halt, node: node, work, .code(code))
    // stage-halt: the last line of the log, because `popEvent` returns no event from now on.
    isHalted = true
    turn.actions.append(.halt(node: node, work: work))
  }
}

/// The largest number of microsteps that one instant can need. Beyond it, the graph has a loop
/// without delay.
struct MicrostepBound: Sendable {
  static let slack = 4
  let nodes: Int

  func steps(tokens: Int) -> Int { 2 * nodes * tokens }
}
