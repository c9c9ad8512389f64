public import RetakeCore

/// The fates of the frames of a run, in numbers: the result of `LiveSession.stop()`, and of a
/// pipeline that runs while it is recorded (`RecordingResult.pipeline`).
///
/// A frame that reaches its source is either captured or lost before capture. A captured frame has
/// one fate at each sink of its source, so every ledger balances: `captured` is the sum of its
/// other counts.
///
/// ```swift
/// let outcome = try await session.stop()
/// for entry in outcome.ledgers {
///   print(entry.sink, entry.track, entry.ledger.delivered, entry.ledger.droppedTotal)
/// }
/// if let halt = outcome.halt { print("halted:", halt) }
/// ```
public struct RunOutcome: Hashable, Sendable {
  /// The fates of the captured frames of one track at one sink.
  public struct LedgerEntry: Hashable, Sendable {
    /// The ID of the sink's node.
    public var sink: String
    /// The track that the frames come from.
    public var track: Int
    /// The fates of the frames, each frame counted once.
    public var ledger: FrameLedger
  }

  /// The frames of a track at their source: each frame that arrived was captured or lost.
  public struct TrackCounts: Hashable, Sendable {
    /// The number of the track, as in `FrameID`.
    public var track: Int
    /// Frames that the pipeline accepted at the source.
    public var captured = 0
    /// Frames that the pipeline did not accept when they arrived: a queue, a pool or the inbox was
    /// full, or the session had stopped. No ledger counts them.
    public var lostBeforeCapture = 0

    package init(track: Int) {
      self.track = track
    }
  }

  package var headline: FrameLedger
  /// One for each sink and track with captured frames: by sink, in the byte order of their IDs,
  /// then by track.
  public var ledgers: [LedgerEntry]
  /// Counts of the sinks that are screens, in the order of their IDs; only in `simulate`.
  package var screens: [ScreenCounts] = []
  /// Counts of the pools that adapt to the load, in the pipeline's order; empty in `every-frame`.
  public var pools: [PoolCounts] = []
  /// Counts of the sources where frames waited for a buffer, in the pipeline's order.
  public var waits: [WaitCounts] = []
  /// How hot the device was, by the profile's heat model; `nil` without one.
  public var heat: HeatCounts?
  /// Frames that arrived while a block edge of their source was full or its pool was empty; live
  /// also frames that were refused. No ledger counts them. Always 0 in `every-frame`.
  public var lostBeforeCapture = 0
  /// Of `lostBeforeCapture`, the frames of the source that `headline` counts. A live run also has
  /// refused frames, which it does not count here.
  package var headlineLost = 0
  /// `lostBeforeCapture` by the source's ID; only in a replay.
  package var lostBySource: [String: Int] = [:]
  /// Set by a live run: the tracks that its sources read, in order.
  public var tracks: [TrackCounts] = []
  /// How often a live run was notified that a track delivers no frames for now.
  public var sourcesLost = 0
  /// Frames of the session that have no pixels, because the recorder dropped them. They never
  /// arrive, so they count neither as captured nor as lost. Always 0 in a live run.
  package var payloadMissing = 0
  /// The number of decision lines, whether or not an observer wanted them.
  public var decisions = 0
  /// XXH3-128 of all decision lines. Two runs with the same digest made the same decisions at the
  /// same times.
  public var decisionDigest = Digest128.zero
  /// Services whose cost came from timings or was measured. 0 in `every-frame`, where services have
  /// no cost, and in a live run.
  package var recordedCosts = 0
  /// Services whose cost was declared or drawn. 0 in `every-frame` and in a live run.
  package var modelledCosts = 0
  /// Failures of stages and sources, in the order in which they happened: the first 1,000.
  /// `failureCount` is the number of all.
  public var failures: [StageFailure] = []
  /// The number of all failures; in a forEach each item counts.
  public var failureCount = 0
  /// The unrecoverable failure that halted the run; `nil` if the run was not halted. Frames that
  /// had not ended by then are in flight.
  public var halt: StageFailure?

  package static let failuresMax = 1_000

  mutating func note(_ failure: StageFailure) {
    failureCount += 1
    if failures.count < Self.failuresMax { failures.append(failure) }
  }
}
