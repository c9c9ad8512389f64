import RetakeCore
import RetakeGraph

/// The decision loop. It runs on the decision thread, and on workers that relieve this thread.
///
/// Only one thread at a time runs it. The inbox decides which thread that is.
final class DecisionLoop: EventHost {
  private let live: LiveRun
  private let facts: LiveFacts
  private let workers: Workers
  /// The run as its stages see it.
  private let stageRun: StageRun
  /// Session time minus clock time.
  private let shift: Int64
  private var batch = LiveBatch()
  private var ordinal = 0
  private var flushedOrdinal = 0
  private var publishedOrdinal = 0
  /// Clock time; far in the past at first.
  private var publishedNanoseconds = Int64.min / 2
  private var last = Int64.min
  private var drainDeadline: Int64?
  private var verdicts: [SwapVerdict] = []
  private var messages: [LiveMessage] = []
  private var failure: (any Error)?
  /// Lets workers run the loop; `nil` before the start and after the end.
  private var turns: WorkerTurns?
  /// The deciding thread runs the next body itself, as soon as it has decided.
  private var takesNextBody = false

  /// - Throws: `RuntimeError.noThread`.
  init(_ live: LiveRun, facts: LiveFacts, shift: Int64) throws(RuntimeError) {
    self.live = live
    self.facts = facts
    self.shift = shift
    stageRun = StageRun(memory: live.memory, live.options.notices ?? { _ in })
    // The first worker belongs to the time plane, and this thread never helps.
    workers = try Workers(
      count: live.options.workers + 1, lanes: live.plan.pinned, niceness: live.options.niceness)
  }

  /// Runs on the decision thread, which owns the decisions at first.
  func run() -> Result<RunOutcome, any Error> {
    let driver = EventDriver(
      plan: live.plan, memory: live.memory,
      tracks: Dictionary(uniqueKeysWithValues: live.sources.map { ($1, $0) }),
      originNanoseconds: facts.originNanoseconds, host: self,
      observer: live.tap == nil ? nil : { [unowned self] in batch.decisions.append($0) })
    turns = WorkerTurns(of: self, driver: driver, inbox: live.inbox)
    live.tap?.began(facts)
    // Ends: no more frames come and all frames in flight have ended, or the drain time is over.
    while !isOver(driver) {
      let isClosed = decideWaiting(driver)
      if isOver(driver) || isClosed && isDrained(driver) { break }
      live.inbox.rest(until: deadline(driver), lookingUpAt: publicationDue, clock: live.clock)
    }
    // From here on this thread owns the decisions, and no other thread enters.
    turns = nil
    // The loop does not wait for frames that are in flight now, so no body has to wait for anything
    // either.
    stageRun.end()
    // With frames in flight a body may still run, and may never return, so no thread is waited for.
    if driver.tokensAlive == 0 { workers.stop() } else { workers.abandon() }
    var outcome = driver.finish()
    outcome.decisionDigest = driver.decisionDigest()
    refuseWaiting()
    flush()
    publish(driver)
    return failure.map { .failure($0) } ?? .success(outcome)
  }

  /// Counts frames that are no longer handled as lost, and answers swaps that can no longer happen.
  private func refuseWaiting() {
    live.refuseWaiting()
    for verdict in verdicts { verdict.decide(LiveCode.ended) }
  }

  /// A worker runs the loop, and returns the decisions when no message waits.
  func turn(_ driver: EventDriver, takesNextBody: Bool) {
    self.takesNextBody = takesNextBody
    // Ends: the waiting messages are ends of started bodies, and events that arrive from outside
    // meanwhile.
    var isGivenBack = false
    while !isGivenBack {
      let isClosed = decideWaiting(driver)
      self.takesNextBody = false
      isGivenBack = live.inbox.giveBack(
        lookingAt: min(deadline(driver) ?? .max, publicationDue ?? .max),
        isOver: isOver(driver) || isClosed && driver.tokensAlive == 0)
    }
  }

  private func isOver(_ driver: EventDriver) -> Bool { driver.isHalted || failure != nil }

  /// Handles all waiting messages, then reports the results.
  ///
  /// - Returns: Whether the input is closed: no more frames come.
  private func decideWaiting(_ driver: EventDriver) -> Bool {
    do {
      while true {
        let isClosed = live.inbox.takeAll(into: &messages)
        for message in messages {
          if isOver(driver) { live.refuse(message) } else { try handle(message, driver) }
        }
        if messages.isEmpty || isOver(driver) {
          if !isOver(driver) { try fireTimers(driver) }
          flush()
          publishIfDue(driver)
          return isClosed
        }
        if ordinal - flushedOrdinal >= LiveBatch.eventsMax { flush() }
      }
    } catch {
      failure = error
      return true
    }
  }

  private var now: Int64 { live.clock.monotonicNanoseconds + shift }

  private func isDrained(_ driver: EventDriver) -> Bool {
    if driver.tokensAlive == 0 { return true }
    let now = live.clock.monotonicNanoseconds
    guard let deadline = drainDeadline else {
      drainDeadline = now + live.options.drain.nanoseconds
      return false
    }
    return now >= deadline
  }

  /// Clock time of the next decision that no message triggers.
  private func deadline(_ driver: EventDriver) -> Int64? {
    guard let timer = driver.nextTimer else { return drainDeadline }
    return min(drainDeadline ?? .max, timer - shift)
  }

  private func fireTimers(_ driver: EventDriver) throws {
    guard let due = driver.nextTimer, due <= now else { return }
    // An event like others: a reproduction reads no
    // clock, and learns here how far time had advanced.
    try tell(.timer, driver)
  }

  private func handle(_ message: LiveMessage, _ driver: EventDriver) throws {
    switch message {
    case .frame(let entry, let pushed):
      var frame = pushed
      frame?.timestamp = driver.timestamp(of: entry)
      try tell(
        frame == nil ? .allocationFailed(entry.id) : .arrival(entry.id), driver,
        .frame(entry, frame))
    case .ended(let body, let outcome, let value, let span):
      if let span { batch.spans.append(span) }
      try tell(.completion(body, outcome), driver, .output(value))
    case .released(let sink, let frame): try tell(.leaseEnded(sink: sink, frame), driver)
    case .device(let event): try tell(.environment(event), driver)
    case .swap(let swap, let node, let verdict):
      verdicts.append(verdict)
      let stage = swap.stage
      try tell(
        .command(
          .swap(node: node, kind: stage.signature.kind, options: stage.options)), driver,
        .swap(swap))
    case .swapReady(let index, let refusal):
      try tell(.swapReady(index: index, refusal: refusal), driver)
      verdicts[index].decide(refusal)
    case .sourceLost(let track, let code):
      try tell(.sourceLost(track: track, code: code), driver)
    }
  }

  /// Stamps an event, handles it, and settles everything that follows from it.
  private func tell(
    _ event: ExternalEvent, _ driver: EventDriver, _ value: EventDriver.Carried = .nothing
  ) throws {
    // Each event has a different time, even if the clock has not advanced, so a record has one
    // order.
    last = max(now, last + 1)
    var stamped = StampedEvent(ordinal: ordinal, nanoseconds: last, event: event)
    ordinal += 1
    stamped.gates = try driver.handle(stamped, value: value)
    if live.tap != nil { batch.events.append(stamped) }
  }

  private func flush() {
    if let tap = live.tap, !batch.isEmpty {
      tap.told(batch)
      batch = LiveBatch()
    }
    flushedOrdinal = ordinal
  }

  /// Counts are for people. Adding them up at each rest would cost as much as deciding.
  private static let publishNanoseconds: Int64 = 10_000_000

  /// Clock time at which the counts are out of date; `nil` = they are up to date.
  private var publicationDue: Int64? {
    publishedOrdinal < ordinal ? publishedNanoseconds + Self.publishNanoseconds : nil
  }

  private func publishIfDue(_ driver: EventDriver) {
    guard let due = publicationDue else { return }
    let now = live.clock.monotonicNanoseconds
    guard now >= due else { return }
    publishedNanoseconds = now
    publish(driver)
  }

  private func publish(_ driver: EventDriver) {
    publishedOrdinal = ordinal
    let (headline, outcome) = (driver.headline, driver.outcome)
    let (decisions, events) = (driver.decisions, ordinal)
    let (pools, waits) = (driver.poolCounts, driver.waitCounts)
    live.counts.withLock {
      $0.ledger = headline
      $0.tracks = outcome.tracks
      $0.lostBeforeCapture = outcome.lostBeforeCapture
      $0.pools = pools
      $0.waits = waits
      $0.decisions = decisions
      $0.externalEvents = events
    }
  }

  // MARK: EventHost

  func begin(_ wanted: BodyCall) {
    guard let turns else { preconditionFailure("bodies begin while it runs") }
    let call = wanted.told(of: stageRun)
    let isMeasured = live.tap != nil
    let (clock, shift) = (live.clock, shift)
    let executor = isMeasured ? executor(of: call.name.node) : ""
    let future = ValueFuture(
      node: call.name.node, frame: call.name.frame,
      item: call.name.item < 0 ? nil : call.name.item, inputs: [], lane: call.lane,
      isNeeded: true, isDigested: false
    ) { _ in
      guard let input = call.input else { preconditionFailure("what is served has a value") }
      let meter = isMeasured ? BodyMeter(clock: clock, shift: shift) : nil
      let outcome = call.run(input)
      let span = meter?.span(of: call, executor: executor, outcome)
      switch outcome {
      case .success(let value):
        turns.end(.ended(call.name, .success, value, span), isOnLane: call.lane != nil)
      case .failure(let error):
        turns.end(.ended(call.name, .failure(error), nil, span), isOnLane: call.lane != nil)
      }
      return .cancelled
    }
    let isTaken = takesNextBody && call.lane == nil
    if isTaken { takesNextBody = false }
    workers.submit(future, isTaken: isTaken)
  }

  private func executor(of node: Int) -> String {
    live.plan.nodes[node].executor.map { live.plan.executors[$0].id } ?? live.plan.nodes[node].id
  }

  func gateValue(_ question: GateQuestion) -> Int { question.answer(plan: live.plan) ?? 0 }

  /// Runs on a worker, because creating a stage may be slow.
  func prepare(_ swap: LiveSwap, index: Int) {
    let old = live.plan.nodes[swap.node].stage
    let inbox = live.inbox
    workers.submit(
      ValueFuture(
        node: swap.node, frame: FrameID(track: 0, sequence: 0), inputs: [], isNeeded: true,
        isDigested: false
      ) { _ in
        // swap-prepare, swap-refused: the answer comes back as an event, which the record has.
        let refusal = RunChanges.refusal(of: swap.swap.stage, for: old)
        inbox.post(.swapReady(index: index, refusal: refusal))
        return .cancelled
      })
  }

  func delivered(_ delivery: LiveDelivery) { live.outbox.post(.delivery(delivery)) }
  func settled(_ frame: LiveFrame) { live.outbox.post(.settled(frame)) }
}
