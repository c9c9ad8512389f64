import DequeModule
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTimePlane

/// One run of a pipeline in virtual time. It feeds the decision core from the sources and the cost
/// model, and lets the workers compute the bodies that the core starts.
final class VirtualRun: CoreDriver {
  let plan: GraphPlan
  let window: Int
  /// Frames are read when there is memory for them, see `ReadGate`.
  let isGated: Bool
  let options: RunOptions
  let observer: any RunObserver
  let workers: Workers
  /// The run as its stages see it.
  let stageRun: StageRun
  let originNanoseconds: Int64
  let changes: RunChanges
  var core: DecisionCore
  var costs: CostModel
  var sources: [SourceState]
  var stages: StageState
  /// By slot.
  var values: [FrameValues<ValueFuture>] = []
  /// By slot.
  var unusedValues: [UnusedValues] = []
  /// By slot.
  var pendingBySlot: [PendingFrame?] = []
  /// Frames between their announcement and their arrival, by slot.
  var announced: [AheadFrame?] = []
  /// In the order of capture.
  var pending: Deque<PendingFrame> = []
  /// Frames of `pending` that are settled and wait for their values.
  var settledCount = 0
  var ledgers: LedgerTable
  var outcome: RunOutcome
  private var poolReporter: PoolReporter
  /// By node: the readers of its frames' pixels, computed on demand and reset at each swap.
  private var demands: [Int: FrameDemand] = [:]
  private var demandsEpoch = 0
  /// By node: the last call of a program, until the next one begins.
  var openPrograms: [Int: OpenProgram] = [:]
  /// The error of a value that the core asked for.
  var gateFault: (any Error)?

  init(
    plan: GraphPlan, options: RunOptions, window: Int, sources: [SourceState],
    originNanoseconds: Int64, changes: RunChanges, observer: any RunObserver, watch: RunWatch?
  ) throws(RuntimeError) {
    self.plan = plan
    self.options = options
    self.window = window
    self.observer = observer
    self.originNanoseconds = originNanoseconds
    self.changes = changes
    self.sources = sources
    let memory = options.memory ?? plan.memory(isVirtual: true, isPoisoned: options.poisonsMemory)
    let tracks = sources.reduce(into: [:]) { $0[$1.node] = $1.description }
    plan.preallocate(memory, for: tracks, isLive: false)
    stageRun = StageRun(
      memory: memory, tracks: sources.map(\.outline), options.notices ?? { _ in })
    // The memory that decoders keep for the next frame has the bound of the pools that their frames
    // lease from.
    if let buffers = plan.sourceBuffers {
      for case let reader as any MemoryKeepingReader in sources.map(\.reader) {
        reader.keepMemory(forFrames: buffers)
      }
    }
    let readsMax =
      options.runAhead ? plan.readsMax(options, tracks: sources.map(\.description)) : nil
    isGated = readsMax != nil
    workers = try Workers(
      count: options.workers, lanes: plan.pinned, perturbation: options.perturbation,
      readsMax: readsMax, waitingWork: observer.isFollowed ? .awaited : .any, watch: watch)
    core = DecisionCore(
      plan: plan, rules: options.mode == .everyFrame ? .everyFrame : .simulate,
      profile: options.costs.profile,
      frameBytes: plan.frameBytes(of: tracks),
      observer: observer.wantsDecisions ? { observer.decided($0) } : nil)
    costs = CostModel(plan: plan, options)
    costs.frameBytes = core.frameBytes
    stages = StageState(plan, code: options.cache?.codeDigest)
    ledgers = LedgerTable(sinks: plan.sinks.count)
    poolReporter = PoolReporter(plan)
    outcome = RunOutcome(headline: FrameLedger(), ledgers: [])
  }

  /// Runs until the sources end, or until the first unrecoverable failure.
  func run() throws -> RunOutcome {
    // Before the workers are waited for: a body may wait for something outside of this process.
    defer {
      // A value that is never submitted would keep its readers, and its program, forever.
      closePrograms(.abandoned)
      workers.stop()
    }
    do {
      try decide()
    } catch {
      stageRun.end()
      throw error
    }
    if outcome.halt != nil { stageRun.end() }
    return outcome
  }

  private func decide() throws {
    addChanges()
    for index in sources.indices { try announce(source: index) }
    var turn = EventContext(gates: self)
    // Bounded: each event comes from a frame, and the sources end.
    while let event = try core.nextEvent() {
      if options.isInterrupted?() == true { throw RuntimeError.interrupted }
      if event.kind == .arrival {
        // Before another frame is announced, so that at
        // most `window` settled frames wait for values.
        try emit(keeping: window)
        try announceNext(after: event)
      }
      core.handle(event, &turn)
      if event.kind == .heat, let now = core.temperature { observer.warmed(to: now, at: core.now) }
      if !plan.pools.isEmpty, poolReporter.tell(observer, of: core, at: event.key.time) {
        stageRun.memory?.follow(core)
      }
      // A gate cannot throw, so its error ends the run here, before any action is carried out.
      if let gateFault { throw gateFault }
      for action in turn.actions { try carryOut(action) }
      turn.actions.removeAll(keepingCapacity: true)
    }
    try finish()
  }

  func demand(ofNode node: Int, epoch: Int) -> FrameDemand {
    if epoch != demandsEpoch {
      demands = [:]
      demandsEpoch = epoch
    }
    if let known = demands[node] { return known }
    let demand = FrameDemand(ofNode: node, plan: plan, stages: stages, epoch: epoch)
    demands[node] = demand
    return demand
  }

  func report(_ error: StageError, node: Int, work: Work) {
    let failure = StageFailure(
      error, at: core.slots[work.slotIndex].id, work, node: plan.nodes[node].id)
    pendingBySlot[work.slotIndex]?.failures.note(failure, node: node)
    outcome.note(failure)
    observer.failed(failure)
  }

  func halt(node: Int, slot: Int) {
    // stage-halt: `popEvent` returns no event from now on, so the loop in `run` ends.
    outcome.halt = pendingBySlot[slot]?.failures[node]
  }

  private func finish() throws {
    if let halt = outcome.halt {
      // source-stop: a frame that still waits at a source was never captured.
      for slot in core.waitingFrames { lose(slot) }
      // stage-halt: frames without a decision stay in flight.
      abandon(at: plan.nodes.firstIndex { $0.id == halt.node } ?? 0)
    } else if pending.contains(where: { !$0.isSettled }) {
      // stuck: the queue of events is empty, so these frames can never end.
      throw RuntimeError.stuck(explanation: core.explainStuck())
    } else {
      try endPrograms()
    }
    closePrograms(.abandoned)
    try emit(keeping: 0)
    // After a halt, only frames before the announced frames count.
    // How far frames were read ahead depends on the window.
    outcome.payloadMissing = sources.reduce(0) {
      $0 + (outcome.halt == nil ? $1.schedule.payloadMissing : $1.announcedMissing)
    }
    outcome.headline = ledgers.total(ofSink: plan.sinks.firstIndex(of: plan.primarySink) ?? 0)
    outcome.ledgers = ledgers.entries(sinkIDs: plan.sinks.map { plan.nodes[$0].id })
    outcome.pools = core.poolCounts
    outcome.waits = core.waitCounts
    outcome.screens = core.screenCounts
    outcome.heat = core.heatCounts
    outcome.decisions = core.log.count
    outcome.decisionDigest = core.log.digest()
    // ledger: each captured frame has ended once at each of its sinks, or is in flight.
    for entry in outcome.ledgers {
      precondition(entry.ledger.isBalanced, "the ledger of '\(entry.sink)' balances")
    }
  }

  /// After a halt, every frame that is not settled stays in flight.
  private func abandon(at node: Int) {
    for frame in pending where !frame.isSettled {
      for sink in frame.sinks.indices {
        guard case .open = frame.sinks[sink] else { continue }
        frame.sinks[sink] = .ended(.inFlight, node: node)
        ledgers.count(.inFlight, sink: sink, track: frame.entry.id.track)
      }
      frame.isSettled = true
      settledCount += 1
    }
  }
}
