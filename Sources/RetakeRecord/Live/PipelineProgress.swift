import RetakeCore
import RetakeRuntime

/// What became of the frames in a pipeline that runs beside a recorder:
/// `produced = accepted + dropped` once it has ended; before, some are on their way to it.
public struct PipelineProgress: Hashable, Sendable, Codable {
  /// Of one track that the pipeline reads.
  public struct Track: Hashable, Sendable, Codable {
    public var track: Int
    /// Frames that the source gave.
    public var produced: Int
    /// Those that the pipeline took.
    public var accepted: Int
    /// Those that it had no room for: lost before capture.
    public var dropped: Int
  }

  /// Of all tracks together.
  public var produced: Int
  public var accepted: Int
  public var dropped: Int
  public var tracks: [Track]
  /// What became of those accepted, at the primary sink: dropped by reason, and so on.
  public var frames: FrameLedger
  /// Lines in the session's table of results.
  public var results: Int
  /// Of the pools that follow the load; `nil` without such.
  public var pools: [PoolCounts]?
  /// Once it has ended: the first `RunSummary.failuresMax` failures of stages and sources, of
  /// `failureCount`. `nil` without any.
  public var failures: [StageFailure]?
  public var failureCount: Int?
  /// The failure that halted it.
  public var halt: StageFailure?

  init(
    produced: [Int: Int], tracks: [RunOutcome.TrackCounts], frames: FrameLedger, results: Int,
    pools: [PoolCounts]
  ) {
    self.pools = pools.isEmpty ? nil : pools
    self.tracks = tracks.map {
      Track(
        track: $0.track, produced: produced[$0.track] ?? 0, accepted: $0.captured,
        dropped: $0.lostBeforeCapture)
    }
    self.produced = self.tracks.reduce(0) { $0 + $1.produced }
    accepted = self.tracks.reduce(0) { $0 + $1.accepted }
    dropped = self.tracks.reduce(0) { $0 + $1.dropped }
    self.frames = frames
    self.results = results
  }

  /// Of a run that has ended.
  init(produced: [Int: Int], outcome: RunOutcome, results: Int) {
    self.init(
      produced: produced, tracks: outcome.tracks, frames: outcome.headline, results: results,
      pools: outcome.pools)
    halt = outcome.halt
    guard outcome.failureCount > 0 else { return }
    failures = Array(outcome.failures.prefix(RunSummary.failuresMax))
    failureCount = outcome.failureCount
  }
}
