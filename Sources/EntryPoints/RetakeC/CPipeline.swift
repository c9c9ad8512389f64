import CRetake
import Dispatch
import Retake

/// A live pipeline of a caller in another language.
///
/// Frames, events and swaps come from any thread. One call of `stop` or `destroy` ends the session;
/// every other one waits for it, or is an error.
final class CPipeline: Sendable {
  private enum Stage: Sendable {
    case running
    /// A thread waits for the frames in flight.
    case stopping
    case stopped
  }

  private struct State: Sendable {
    var stage = Stage.running
    /// `nil` after destruction: the engine then holds no pixels of the caller.
    var session: LiveSession?
    var counts = retake_counts()
    var swaps = 0
    /// The options that swaps have put in force, by node.
    var options: [String: JSONValue] = [:]
  }

  /// Swaps that may wait at once.
  private static let swapsMax = 64

  let loans = BorrowedFrames()
  private let document: Document
  private let tracks: [LiveTrack]
  private let drainNanoseconds: Int64
  private let state: Locked<State>
  /// Left when the session has ended.
  private let ended = DispatchGroup()
  /// Left by each swap that has its answer.
  private let swapping = DispatchGroup()

  /// - Parameter receive: Called with each result, one call at a time.
  /// - Throws: `PipelineError`, `RuntimeError`.
  init(
    _ document: Document, tracks: [LiveTrack], options: LiveOptions,
    receive: @escaping @Sendable (LiveResult) -> Void
  ) throws {
    self.document = document
    self.tracks = tracks
    drainNanoseconds = options.drain.nanoseconds
    let session = try LiveSession(
      document.pipeline, tracks: tracks, catalog: document.catalog, options: options, tap: nil,
      receive: receive)
    state = Locked(State(session: session))
    ended.enter()
  }

  // MARK: Input

  /// The declaration of a track that a source reads.
  ///
  /// - Throws: `Problem`.
  func track(_ number: Int) throws -> LiveTrack {
    guard let track = tracks.first(where: { $0.track == number }) else {
      let known = tracks.map { "\($0.track)" }.joined(separator: ", ")
      throw Problem(
        RETAKE_ERROR_TRACK, "track", "there is no track \(number)",
        advice: "The pipeline was created with track \(known)")
    }
    return track
  }

  /// - Returns: The frame's number in its track.
  /// - Throws: `Problem` if the frame was not taken.
  func push(_ frame: Frame, track: Int) throws -> Int {
    let session = try running()
    guard session.tracks.contains(track) else {
      throw Problem(
        RETAKE_ERROR_TRACK, "track", "no source of the pipeline reads track \(track)",
        advice: "Its sources read track "
          + session.tracks.map(String.init).joined(separator: ", "))
    }
    let (id, isTaken) = session.offer(frame, track: track)
    guard isTaken else {
      // In this order: a session that another thread stops is closed only after `running()` would
      // throw.
      let isOpen = session.isOpen
      _ = try running()
      throw isOpen ? Self.full : Self.halted
    }
    return id.sequence
  }

  /// - Throws: `Problem`.
  func push(_ event: DeviceEvent) throws { try running().push(event) }

  /// - Throws: `Problem`.
  func sourceLost(track: Int, code: String) throws {
    let session = try running()
    _ = try self.track(track)
    session.sourceLost(track: track, code: code)
  }

  private func running() throws -> LiveSession {
    try state.withLock { state in
      guard state.stage == .running, let session = state.session else { throw Problem.stopped }
      return session
    }
  }

  private static let full = Problem(
    RETAKE_ERROR_FULL, "full", "the queue of pushed frames is full: the frame is lost",
    advice: "Push frames at the rate at which they are shown, or raise waiting_frames")

  private static let halted = Problem(
    RETAKE_ERROR_RUN, "halted", "a stage has halted the run",
    advice: "retake_pipeline_stop says which, and why")

  // MARK: Swaps

  /// Replaces a node's stage; `done` is called once.
  ///
  /// - Parameter options: The options that change.
  /// - Throws: `Problem` for a node that does not exist; in that case `done` is not called.
  func swap(
    _ node: String, options: [String: JSONValue], done: @escaping @Sendable (Problem?) -> Void
  ) throws {
    let session = try running()
    let nodes = document.pipeline.flattened().nodes.filter(\.stage.signature.role.isServed)
    guard let found = nodes.first(where: { $0.id == node }) else {
      throw Problem(
        RETAKE_ERROR_SWAP, "swap.node", "there is no stage '\(node)'",
        advice: Suggestion.advice(for: node, among: nodes.map(\.id).sorted()))
    }
    try state.withLock { state in
      guard state.swaps < Self.swapsMax else {
        throw Problem(
          RETAKE_ERROR_LIMIT, "swap.limit", "\(Self.swapsMax) swaps wait already",
          advice: "Wait until one of them is done")
      }
      state.swaps += 1
      swapping.enter()
    }
    let kind = found.kind
    let before = found.stage.options
    Task.detached { [self] in
      // Making a stage may load a model.
      done(await swapped(node, kind: kind, options, before: before, in: session))
      state.withLock { $0.swaps -= 1 }
      swapping.leave()
    }
  }

  private func swapped(
    _ node: String, kind: String, _ changes: [String: JSONValue], before: JSONValue,
    in session: LiveSession
  ) async -> Problem? {
    var options = state.withLock { $0.options[node] } ?? before
    if case .object(let old) = options { options = .object(old.merging(changes) { $1 }) }
    do {
      let stage = try document.catalog.make(kind: kind, options: options)
      try await session.swap(node, to: stage)
    } catch let problem as OptionProblem {
      var refusal = Problem(
        RETAKE_ERROR_SWAP, "swap.option", problem.message, advice: problem.advice ?? "")
      refusal.pointer = problem.pointer
      return refusal
    } catch {
      return Problem(error)
    }
    let inForce = options
    state.withLock { $0.options[node] = inForce }
    return nil
  }

  // MARK: Counts and the end

  func counts() -> retake_counts {
    state.withLock { state in
      guard state.stage != .stopped, let counts = state.session?.counts else { return state.counts }
      return retake_counts(counts.ledger, lost: counts.lostBeforeCapture + counts.refused)
    }
  }

  /// Waits for the frames in flight and for their results.
  ///
  /// - Throws: `Problem` if the pipeline was stopped before, or if a stage has halted the run.
  func stop() throws {
    guard let session = claimEnd() else { throw Problem.stopped }
    let outcome = Result { try session.finish() }
    state.withLock { state in
      state.stage = .stopped
      if case .success(let outcome) = outcome {
        state.counts = retake_counts(outcome.headline, lost: outcome.lostBeforeCapture)
      }
    }
    ended.leave()
    switch outcome {
    case .failure(let error): throw Problem(error)
    case .success(let outcome): if let halt = outcome.halt { throw Problem(haltedBy: halt) }
    }
  }

  /// Returns the session to the single thread that has to end it, and `nil` to others.
  private func claimEnd() -> LiveSession? {
    state.withLock { state in
      guard state.stage == .running else { return nil }
      state.stage = .stopping
      return state.session
    }
  }

  /// Ends it, and returns when no callback can be called any more.
  ///
  /// - Throws: `Problem` if pixels of the caller are still used after the time of the drain.
  func destroy() throws {
    // Why the run ended is of no interest any more.
    try? stop()
    ended.wait()
    swapping.wait()
    state.withLock { $0.session = nil }
    let left = loans.waitForEnd(nanosecondsMax: max(drainNanoseconds, Self.graceNanoseconds))
    guard left == 0 else {
      throw Problem(
        RETAKE_ERROR_BUSY, "busy",
        "a stage has not returned and uses \(counted(left, "frame")) "
          + "of the caller",
        advice: "Keep their pixels until 'release' is called")
    }
  }

  /// The time for threads of an ended run to drop their last frames.
  private static let graceNanoseconds: Int64 = 1_000_000_000
}

extension retake_counts {
  /// - Parameter lost: Frames that were not captured.
  init(_ ledger: FrameLedger, lost: Int) {
    func dropped(_ reason: DropReason) -> Int64 { Int64(ledger.dropped[reason.rawValue] ?? 0) }
    self.init()
    size = MemoryLayout<retake_counts>.size
    captured = Int64(ledger.captured)
    delivered = Int64(ledger.delivered)
    dropped_queue = dropped(.queue)
    dropped_pool = dropped(.pool)
    dropped_timeout = dropped(.timeout)
    dropped_partner_missing = dropped(.partnerMissing)
    throttled = Int64(ledger.throttled)
    replaced = Int64(ledger.replaced)
    failed = Int64(ledger.failed)
    in_flight = Int64(inFlight(ledger))
    lost_before_capture = Int64(lost)
  }

  /// While a pipeline runs, the ledger does not count them.
  private func inFlight(_ ledger: FrameLedger) -> Int {
    ledger.captured - ledger.delivered - ledger.droppedTotal - ledger.throttled - ledger.replaced
      - ledger.failed
  }
}
