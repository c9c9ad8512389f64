import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTimePlane
import Synchronization

/// A pipeline that runs in real time: the decision thread, its workers, and the thread that calls
/// the sinks.
final class LiveRun: Sendable {
  let plan: GraphPlan
  let options: LiveOptions
  let clock: any LiveClock
  let inbox: LiveInbox
  let outbox: LiveOutbox
  let memory: RunMemory
  let tap: (any LiveTap)?
  /// The source node of each track.
  let sources: [Int: Int]
  /// Complete but for the times, which are known when the run begins.
  let facts: LiveFacts
  /// The counts that the decision loop published last.
  let counts = Mutex(LiveCounts())
  let refused = RefusedFrames()
  private let hasBegun = Atomic(false)
  private let stage = Mutex(Stage.waiting)
  private let over = ThreadCondition()
  /// Called when everything has been reported.
  let onEnd = Mutex<(@Sendable () -> Void)?>(nil)
  private let outcome = Mutex<Result<RunOutcome, any Error>?>(nil)

  private enum Stage: Sendable {
    case waiting
    case running
    case over
  }

  init(
    plan: GraphPlan, facts: LiveFacts, sources: [Int: Int], options: LiveOptions,
    clock: any LiveClock, tap: (any LiveTap)?, receive: @escaping @Sendable (LiveResult) -> Void
  ) {
    self.plan = plan
    self.facts = facts
    self.sources = sources
    self.options = options
    self.clock = clock
    self.tap = tap
    memory = plan.memory(isVirtual: false)
    inbox = LiveInbox(framesMax: options.waitingFramesMax)
    outbox = LiveOutbox(plan: plan, deliveriesMax: options.waitingDeliveriesMax) { result in
      tap?.finished(result)
      receive(result)
    }
  }

  /// Starts to decide: messages are handled from now on. Only the first call has an effect.
  ///
  /// - Parameters:
  ///   - time: The current time, on the session's time line.
  ///   - origin: Subtracted from the frames' times before stages see them.
  func begin(at time: Int64, origin: Int64) {
    guard !hasBegun.load(ordering: .acquiring) else { return }
    let isFirst = stage.withLock { stage -> Bool in
      guard stage == .waiting else { return false }
      stage = .running
      return true
    }
    guard isFirst else { return }
    hasBegun.store(true, ordering: .releasing)
    var begun = facts
    (begun.startedNanoseconds, begun.originNanoseconds) = (time, origin)
    let facts = begun
    let shift = time - clock.monotonicNanoseconds
    do throws(RuntimeError) {
      try startSinks()
      try startDeciding(facts, shift: shift)
    } catch {
      // No thread decides. All pushed frames are refused, and the caller that ends the run gets the
      // error.
      refuseWaiting()
      outbox.close()
      end(.failure(error))
    }
  }

  private func startSinks() throws(RuntimeError) {
    _ = try NamedThread("retake-sinks") { [outbox, inbox, plan] in
      guard !plan.pools.isEmpty else { return outbox.run(released: nil) }
      outbox.run { sink, frame in inbox.post(.released(sink: sink, frame)) }
    }
  }

  private func startDeciding(_ facts: LiveFacts, shift: Int64) throws(RuntimeError) {
    _ = try NamedThread("retake-decide") { [self] in
      let result: Result<RunOutcome, any Error>
      do throws(RuntimeError) {
        result = try DecisionLoop(self, facts: facts, shift: shift).run()
      } catch {
        refuseWaiting()
        result = .failure(error)
      }
      outbox.close()
      outbox.waitForEnd()
      if case .success(let outcome) = result { tap?.ended(outcome) }
      end(result)
    }
  }

  private func end(_ result: Result<RunOutcome, any Error>) {
    outcome.withLock { $0 = result }
    stage.withLock { $0 = .over }
    onEnd.withLock { $0 }?()
    over.signal()
  }

  /// Accepts no more frames. Counts the waiting frames as lost, and answers swaps that can no
  /// longer happen.
  func refuseWaiting() {
    inbox.close()
    var rest: [LiveMessage] = []
    _ = inbox.takeAll(into: &rest)
    for message in rest { refuse(message) }
  }

  func refuse(_ message: LiveMessage) {
    switch message {
    case .frame(let entry, _): refused.count(track: entry.id.track)
    case .swap(_, _, let verdict): verdict.decide(LiveCode.ended)
    case .ended, .released, .device, .swapReady, .sourceLost: break
    }
  }

  /// Accepts no more frames. Returns when the frames in flight have ended, or after
  /// `options.drain`. One thread calls it, once.
  ///
  /// - Throws: `RuntimeError`.
  func finish() throws -> RunOutcome {
    begin(at: facts.startedNanoseconds, origin: facts.originNanoseconds)
    inbox.close()
    over.wait()
    guard let result = outcome.withLock({ $0 }) else {
      preconditionFailure("a run that is over has an outcome")
    }
    var outcome = try result.get()
    refused.add(to: &outcome)
    return outcome
  }
}

/// Frames that arrived faster than the decision loop could handle them, by track.
final class RefusedFrames: Sendable {
  private let counts = Mutex<[Int: Int]>([:])

  func count(track: Int) { counts.withLock { $0[track, default: 0] += 1 } }

  var total: Int { counts.withLock { $0.values.reduce(0, +) } }

  /// Adds the refused frames to the frames lost before capture.
  func add(to tracks: inout [RunOutcome.TrackCounts]) {
    let refused = counts.withLock { $0 }
    for place in tracks.indices {
      tracks[place].lostBeforeCapture += refused[tracks[place].track] ?? 0
    }
  }

  func add(to outcome: inout RunOutcome) {
    outcome.lostBeforeCapture += total
    add(to: &outcome.tracks)
  }
}
