import Collections
import RetakeCore
import RetakeGraph

/// One run of a pipeline in virtual time: feeds the decision core from the sources and the cost
/// model, and has the workers compute what it decides.
final class VirtualRun {
  let plan: GraphPlan
  let options: RunOptions
  let observer: any RunObserver
  let workers: Workers
  let origin: Int64
  var core: DecisionCore
  var costs: CostModel
  var sources: [SourceState]
  /// By slot, then node.
  var values: [[ValueFuture?]] = []
  /// By slot.
  var pendingBySlot: [PendingFrame?] = []
  /// What is known of a frame between its announcement and its arrival, by slot.
  var announced: [AheadFrame?] = []
  /// In the order of capture.
  var pending: Deque<PendingFrame> = []
  /// Frames of `pending` that are settled and wait for their values.
  var settledCount = 0
  /// Instances of stateful stages and the last call of each, by node.
  var instances: [(any StageInstance)?]
  var chainTails: [ValueFuture?]
  var ledgers: LedgerBook
  var outcome: RunOutcome
  private var actions: [Action] = []

  init(
    plan: GraphPlan, options: RunOptions, sources: [SourceState], origin: Int64,
    observer: any RunObserver
  ) {
    self.plan = plan
    self.options = options
    self.observer = observer
    self.origin = origin
    self.sources = sources
    workers = Workers(count: options.workers, perturbation: options.perturbation)
    core = DecisionCore(
      plan: plan, isUnbounded: options.mode == .lossless,
      observer: observer.wantsDecisions ? { observer.decided($0) } : nil)
    costs = CostModel(plan: plan, options: options)
    instances = plan.nodes.map {
      guard case .stateful(let make) = $0.stage.body else { return nil }
      return make()
    }
    chainTails = plan.nodes.map { _ in nil }
    ledgers = LedgerBook(sinks: plan.sinks.count)
    outcome = RunOutcome(headline: FrameLedger(), ledgers: [])
  }

  /// Runs to the end of the sources, or to the first unrecoverable failure.
  func run() throws -> RunOutcome {
    defer { workers.stop() }
    for index in sources.indices { try announce(source: index) }
    // Bounded: each event is made by a frame, and the sources end.
    while let event = try core.popEvent() {
      if options.isInterrupted?() == true { throw RuntimeError.interrupted }
      if event.kind == .arrival { try announceNext(after: event) }
      core.handle(
        event, failure: announced(event)?.entry.damage, outcome: try outcome(of: event),
        into: &actions)
      for action in actions { try carryOut(action) }
      actions.removeAll(keepingCapacity: true)
      try emit(keeping: options.window)
    }
    try finish()
    return outcome
  }

  private func announced(_ event: Event) -> AheadFrame? {
    event.kind == .arrival ? announced[Int(event.slot)] : nil
  }

  /// Waits at a gate: a body that can throw decides about the frame's way on.
  private func outcome(of event: Event) throws -> CompletionOutcome {
    let node = Int(event.target)
    guard event.kind == .completion, plan.nodes[node].stage.signature.canFail,
      let future = values[Int(event.slot)][node]
    else { return .success }
    switch workers.help(future) {
    case .value: return .success
    case .failure(let error): return .failure(error)
    case .fault(let error):
      // A frame that was captured earlier may be broken too, and not be looked at yet.
      for frame in pending { try checkFaults(of: frame) }
      throw error
    case .cancelled: preconditionFailure("what is served is never cancelled")
    }
  }

  private func carryOut(_ action: Action) throws {
    switch action {
    case .captured(let slot): capture(slot)
    case .lost(let slot): lose(slot)
    case .start(let node, let slot): try start(node: node, slot: slot)
    case .pass(let node, let slot):
      values[slot][node] = input(of: node, slot: slot)
    case .deliver(let sink, let slot): deliver(sink: sink, slot: slot)
    case .end(let sink, let slot, let fate, let node):
      end(sink: sink, slot: slot, fate, node: node)
    case .report(let node, let slot, let code): report(node: node, slot: slot, code: code)
    case .settled(let slot): settle(slot)
    case .halt(let node, let slot, let code):
      outcome.halt = ReportedError(
        frame: core.slots[slot].id, node: plan.nodes[node].id, code: code)
    }
  }

  private func report(node: Int, slot: Int, code: String) {
    outcome.errorCount += 1
    guard outcome.errors.count < RunOutcome.reportedErrorsMax else { return }
    outcome.errors.append(
      ReportedError(frame: core.slots[slot].id, node: plan.nodes[node].id, code: code))
  }

  private func finish() throws {
    if let halt = outcome.halt {
      let node = plan.nodes.firstIndex { $0.id == halt.node } ?? 0
      abandon(at: node)
    }
    if let stuck = pending.first(where: { !$0.isSettled }) {
      throw RuntimeError.stuck(explanation: "frame \(stuck.entry.id) waits for ever")
    }
    try emit(keeping: 0)
    outcome.payloadMissing = sources.reduce(0) { $0 + $1.schedule.payloadMissing }
    outcome.headline = ledgers.total(ofSink: plan.sinks.firstIndex(of: plan.primarySink) ?? 0)
    outcome.ledgers = ledgers.entries(sinkIDs: plan.sinks.map { plan.nodes[$0].id })
    outcome.decisions = core.log.count
    outcome.decisionDigest = core.log.digest()
    for entry in outcome.ledgers {
      precondition(entry.ledger.isBalanced, "the ledger of '\(entry.sink)' balances")
    }
  }

  /// After a halt, whatever is not settled is in flight for good.
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

/// The ledgers of one run, by sink and track.
struct LedgerBook {
  private var books: [[Int: FrameLedger]]

  init(sinks: Int) {
    books = Array(repeating: [:], count: sinks)
  }

  mutating func capture(track: Int) {
    for sink in books.indices { books[sink][track, default: FrameLedger()].captured += 1 }
  }

  mutating func count(_ fate: FrameFate, sink: Int, track: Int) {
    books[sink][track, default: FrameLedger()].count(fate)
  }

  func total(ofSink sink: Int) -> FrameLedger {
    var total = FrameLedger()
    for track in books[sink].keys.sorted() {
      guard let ledger = books[sink][track] else { continue }
      total.captured += ledger.captured
      total.delivered += ledger.delivered
      total.thinned += ledger.thinned
      total.superseded += ledger.superseded
      total.failed += ledger.failed
      total.inFlight += ledger.inFlight
      total.dropped.merge(ledger.dropped, uniquingKeysWith: +)
    }
    return total
  }

  func entries(sinkIDs: [String]) -> [RunOutcome.LedgerEntry] {
    books.indices.flatMap { sink in
      books[sink].keys.sorted().map { track in
        RunOutcome.LedgerEntry(
          sink: sinkIDs[sink], track: track, ledger: books[sink][track] ?? FrameLedger())
      }
    }
  }
}
