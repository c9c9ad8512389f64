/// The outcome of one run in numbers and digests: the document `run.json`.
public struct RunSummary: Hashable, Sendable, Codable {
  package struct Costs: Hashable, Sendable, Codable {
    /// `none` in every-frame mode, `declared`, `timings:DIGEST`, `profile:NAME@DIGEST`, `measured`.
    package var source: String?
    /// Costs that came from recorded timings, or were measured.
    package var recorded = 0
    /// Costs that were declared or drawn.
    package var modelled = 0

    package init() {}
  }

  /// How the decisions agree with the live decisions on the same session, ignoring times.
  package struct LiveAgreement: Hashable, Sendable, Codable {
    /// The live run's number.
    package var run: Int
    /// Decisions that were made in both runs.
    package var same = 0
    package var onlyLive = 0
    package var onlyReplayed = 0
    package var liveDrops = 0
    package var replayedDrops = 0
    /// Frames that were lost before capture.
    package var liveLost = 0
    package var replayedLost = 0

    package init(run: Int) {
      self.run = run
    }

    /// The percentage of live decisions that were made again: how faithful the model is. It is 100
    /// only if all of them were.
    package var sharePercent: Int {
      let total = same + onlyLive
      guard total > 0, onlyLive > 0 else { return 100 }
      // In integers, 100 · same / total rounded to the nearest. Capped at 99, because at least one
      // decision differs.
      return min(99, (200 * same + total) / (2 * total))
    }
  }

  /// The results that a sink received.
  public struct Found: Hashable, Sendable, Codable {
    /// The ID of the sink's node.
    public var sink: String
    /// Frames that were delivered, with or without results.
    public var delivered = 0
    /// Results by kind, as in result lines: `detections`, `labels`, `scalars`, `pictures`,
    /// `tensors`, `waveforms`, `texts`, `values`.
    public var results: [String: Int] = [:]
    /// The number of frames with at least one result, by kind.
    public var frames: [String: Int] = [:]

    package init(sink: String) {
      self.sink = sink
    }
  }

  /// How a run used the cache of earlier runs' values.
  package struct CacheUse: Hashable, Sendable, Codable {
    /// Values that did not have to be computed, or frames that did not have to be decoded.
    package var known = 0
    /// Values or frames that had to be computed or decoded.
    package var computed = 0
    package var bytesWritten = 0
    /// Damaged records, which were computed again.
    package var damaged = 0
    /// Files that were written elsewhere and not used; `nil` without such files.
    package var foreign: Int?
    /// Why the cache could not write any more records.
    package var failure: String?

    package init() {}
  }

  package var v = 1
  /// The name of the session; `nil` if the request has no session.
  public var session: String?
  /// The name of the case; its key in the document is `case`.
  public var caseName: String?
  /// The name of the pipeline.
  public var pipeline: String
  /// The raw value of the run's `RunOptions.Mode`: `every-frame` or `simulate`.
  public var mode: String
  /// Threads that computed. Their number changes no result.
  public var workers: Int
  /// The ledger of the primary sink; of the last sink by ID if no sink is marked as primary.
  public var frames: FrameLedger
  /// Frames lost before capture, because a queue or the pool was full, at the source that `frames`
  /// counts. They are not in `frames`.
  public var lostBeforeCapture = 0
  /// Lost frames by the ID of the source, for each source that lost frames; `nil` if there is only
  /// one source, or if no frames were lost.
  package var lostBySource: [String: Int]?
  /// Frames whose pixels the recorder did not store. They never arrive, and are not in `frames`.
  public var payloadMissing = 0
  /// The number of decision lines.
  public var decisions = 0
  /// XXH3-128 of all decision lines: equal digests mean equal decisions.
  public var decisionDigest: Digest128
  /// XXH3-128 of all result lines, after rounding to the sinks' steps.
  public var resultDigest: Digest128
  package var costs = Costs()
  /// By sink, in the pipeline's order.
  public var found: [Found]?
  /// The sinks of `found` that got no result although their source had frames, in the same order;
  /// `nil` if each got one, and after a halt.
  public var silentSinks: [String]?
  /// Set if the decisions were made again from the costs of a live run's timings.
  package var live: LiveAgreement?
  package var cache: CacheUse?
  /// Counts of the pools that adapt to the load; `nil` without such pools.
  public var pools: [PoolCounts]?
  /// Counts of the sources where frames waited for a buffer; `nil` if no frame waited.
  public var waits: [WaitCounts]?
  /// How hot the device was, by the profile's heat model; `nil` without one.
  public var heat: HeatCounts?
  /// Counts of the modelled screens; `nil` without screens.
  public var screens: [ScreenCounts]?
  /// Real time of the run on this machine. It differs from run to run.
  public var wallSeconds: Double = 0
  /// Captured frames per second of `wallSeconds`. It differs from run to run.
  public var framesPerSecond: Double = 0
  /// Failures of stages and sources, in the order in which they happened: the first `failuresMax`
  /// of `failureCount`. `nil` without failures.
  public var failures: [StageFailure]?
  /// The number of all failures, including failures beyond the limit of `failures`; `nil` without
  /// failures.
  public var failureCount: Int?
  /// Set if a stage halted the run: the code of the failure. `halt` has the failure itself.
  package var haltedBy: String?
  /// The failure that halted the run; `nil` if the run was not halted.
  public var halt: StageFailure?

  /// Problems that were repaired, by frame: for example, a program crashed and was started again.
  /// They changed no result, and differ from run to run. `nil` without such notices.
  package var notices: [StageFailure]?

  package static let failuresMax = 100

  private enum CodingKeys: String, CodingKey {
    case v, session, caseName = "case", pipeline, mode, workers, frames, lostBeforeCapture
    case payloadMissing, decisions, decisionDigest, resultDigest, costs, wallSeconds
    case framesPerSecond, found, haltedBy, halt, failures, failureCount, live, cache, pools, screens
    case notices, heat, waits, lostBySource, silentSinks
  }

  package init(
    pipeline: String, mode: String, workers: Int, frames: FrameLedger, decisionDigest: Digest128,
    resultDigest: Digest128
  ) {
    self.pipeline = pipeline
    self.mode = mode
    self.workers = workers
    self.frames = frames
    self.decisionDigest = decisionDigest
    self.resultDigest = resultDigest
  }
}

extension RunSummary {
  /// A sentence for each of the silent sinks.
  package var silenceNotes: [String] {
    (silentSinks ?? []).map { sink in
      let delivered = found?.first { $0.sink == sink }?.delivered ?? 0
      let count = delivered == 0 ? frames.captured : delivered
      let text = count == 1 ? "the only frame" : "any of \(count) frames"
      return "the sink '\(sink)' received no result in \(text)"
    }
  }
}

extension RunSummary.LiveAgreement: CustomStringConvertible {
  /// For people, shown with the live decisions.
  package var description: String {
    "\(sharePercent) % of \(same + onlyLive) live decisions reproduced, \(onlyLive) only live, "
      + "\(onlyReplayed) only replayed; drops \(liveDrops) live, \(replayedDrops) replayed; "
      + "lost \(liveLost) live, \(replayedLost) replayed"
  }
}
