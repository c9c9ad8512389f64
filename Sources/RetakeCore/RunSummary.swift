/// What became of the captured frames on their way to one sink. It balances in every run:
/// `captured = delivered + dropped + thinned + superseded + failed + inFlight`.
public struct FrameLedger: Hashable, Sendable, Codable {
  public var captured = 0
  public var delivered = 0
  /// By reason; reasons that did not occur are absent.
  public var dropped: [String: Int] = [:]
  public var thinned = 0
  public var superseded = 0
  public var failed = 0
  public var inFlight = 0

  public init() {}

  public var droppedTotal: Int { dropped.values.reduce(0, +) }

  public var isBalanced: Bool {
    captured == delivered + droppedTotal + thinned + superseded + failed + inFlight
  }

  /// Counts one settled frame; `captured` is counted at the source.
  public mutating func count(_ fate: FrameFate) {
    switch fate {
    case .delivered: delivered += 1
    case .dropped(let reason): dropped[reason.rawValue, default: 0] += 1
    case .thinned: thinned += 1
    case .superseded: superseded += 1
    case .failed: failed += 1
    case .inFlight: inFlight += 1
    }
  }
}

/// The outcome of one run in numbers and digests: the document `run.json`.
public struct RunSummary: Hashable, Sendable, Codable {
  public struct Costs: Hashable, Sendable, Codable {
    /// `none` in lossless, `declared`, `tape:DIGEST`, `profile:NAME@DIGEST`, `measured`.
    public var source: String?
    /// Costs that came from a recorded tape, or were measured.
    public var recorded = 0
    /// Costs that were declared or drawn.
    public var modelled = 0

    public init() {}
  }

  /// How the decisions agree with those that were made live on the same session, times apart.
  public struct LiveAgreement: Hashable, Sendable, Codable {
    /// The live run's number.
    public var run: Int
    /// Decisions that were made in both.
    public var same = 0
    public var onlyLive = 0
    public var onlyReplayed = 0
    public var liveDrops = 0
    public var replayedDrops = 0
    /// Lost before capture.
    public var liveLost = 0
    public var replayedLost = 0

    public init(run: Int) {
      self.run = run
    }

    /// Equal decisions in a hundred of the live ones: how faithful the model is. Only all is 100.
    public var sharePercent: Int {
      let total = same + onlyLive
      guard total > 0, onlyLive > 0 else { return 100 }
      return min(99, (200 * same + total) / (2 * total))
    }
  }

  /// What a sink received.
  public struct Found: Hashable, Sendable, Codable {
    public var sink: String
    /// Frames that came, with results or without.
    public var delivered = 0
    /// Results by their kind, as in result lines: `detections`, `labels`, `scalars`, `pictures`,
    /// `tensors`, `waveforms`, `texts`, `values`.
    public var results: [String: Int] = [:]
    /// Frames with at least one result of a kind.
    public var frames: [String: Int] = [:]

    public init(sink: String) {
      self.sink = sink
    }
  }

  /// What a cache of earlier runs' values did for this one.
  public struct CacheUse: Hashable, Sendable, Codable {
    /// Values that did not have to be computed, or frames that did not have to be decoded.
    public var known = 0
    /// Those that had to be.
    public var computed = 0
    public var bytesWritten = 0
    /// Records that were not what they had been, and were computed anew.
    public var damaged = 0
    /// Files that were made elsewhere and not used; `nil` where there were none.
    public var foreign: Int?
    /// Why nothing more could be written.
    public var failure: String?

    public init() {}
  }

  public var v = 1
  public var session: String?
  /// The name of the case: written as `case`.
  public var caseName: String?
  public var pipeline: String
  public var mode: String
  public var workers: Int
  public var frames: FrameLedger
  public var lostBeforeCapture = 0
  public var payloadMissing = 0
  public var decisions = 0
  public var decisionDigest: Digest128
  public var resultDigest: Digest128
  public var costs = Costs()
  /// By sink, in the pipeline's order.
  public var found: [Found]?
  /// Where costs of a live run's tape decided again.
  public var live: LiveAgreement?
  public var cache: CacheUse?
  /// Of the pools that follow the load; `nil` without such.
  public var pools: [PoolCounts]?
  /// Of the modelled screens; `nil` without such.
  public var screens: [ScreenCounts]?
  public var wallSeconds: Double = 0
  public var framesPerSecond: Double = 0
  /// Failures of stages and sources, in the order in which they happened: the first `failuresMax` of
  /// `failureCount`. `nil` without any.
  public var failures: [StageFailure]?
  public var failureCount: Int?
  /// Set when a stage halted the run: the failure's code; `halt` is all of it.
  public var haltedBy: String?
  public var halt: StageFailure?

  public static let failuresMax = 100

  private enum CodingKeys: String, CodingKey {
    case v, session, caseName = "case", pipeline, mode, workers, frames, lostBeforeCapture
    case payloadMissing, decisions, decisionDigest, resultDigest, costs, wallSeconds
    case framesPerSecond, found, haltedBy, halt, failures, failureCount, live, cache, pools, screens
  }

  public init(
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

extension RunSummary.LiveAgreement: CustomStringConvertible {
  /// For people, beside the live decisions.
  public var description: String {
    "\(sharePercent) % of \(same + onlyLive) live decisions made again, \(onlyLive) only live, "
      + "\(onlyReplayed) only replayed; drops \(liveDrops) live, \(replayedDrops) replayed; "
      + "lost \(liveLost) live, \(replayedLost) replayed"
  }
}
