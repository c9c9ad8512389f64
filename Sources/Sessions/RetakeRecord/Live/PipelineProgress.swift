public import RetakeCore
import RetakeRuntime

/// Counts the frames of a pipeline that runs alongside a recorder. After the run, `produced =
/// accepted + dropped`. During the run, some frames have not reached the pipeline yet.
public struct PipelineProgress: Hashable, Sendable, Codable {
  /// Counts of one track that the pipeline reads.
  package struct Track: Hashable, Sendable, Codable {
    /// The number of the source's track.
    package var track: Int
    /// Frames that the source gave.
    package var produced: Int
    /// Frames that the pipeline accepted.
    package var accepted: Int
    /// Frames that were lost before capture, because the pipeline had no space for them.
    package var dropped: Int
  }

  /// Counts of the frames that one stage dropped.
  public struct Stage: Hashable, Sendable, Codable {
    /// The node's ID in the pipeline.
    public var node: String
    /// Accepted frames that this stage dropped, by reason; in a forEach, items.
    public var dropped: [String: Int]
  }

  /// Frames that the source gave, of all tracks that the pipeline reads.
  public var produced: Int
  /// Frames that the pipeline captured, of all tracks.
  public var accepted: Int
  /// Frames that were lost before capture. `frames.dropped` counts the accepted frames that were
  /// dropped later.
  public var dropped: Int
  /// One for each track that the pipeline reads, in the order of their numbers.
  package var tracks: [Track]
  /// The fates of the accepted frames at the primary sink, for example dropped, by reason.
  public var frames: FrameLedger
  /// The stages that dropped frames, in the order of their IDs; `nil` without such stages.
  public var stages: [Stage]?
  /// Number of lines in the session's table of results.
  public var results: Int
  /// Pools that adapt to the load; `nil` without such pools.
  public var pools: [PoolCounts]?
  /// Sources where frames have waited for a buffer; `nil` without such sources.
  package var waits: [WaitCounts]?
  /// The first 100 failures of stages and sources, after the run has ended; `nil` without failures.
  public var failures: [StageFailure]?
  /// The number of all failures; `nil` without failures, and before the run has ended.
  public var failureCount: Int?
  /// The failure that stopped the pipeline.
  public var halt: StageFailure?

  init(
    produced: [Int: Int], tracks: [RunOutcome.TrackCounts], frames: FrameLedger, results: Int,
    pools: [PoolCounts], waits: [WaitCounts], drops: DropCounts = DropCounts()
  ) {
    stages = drops.stages
    self.pools = pools.isEmpty ? nil : pools
    self.waits = waits.isEmpty ? nil : waits
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

  /// The progress of a run that has ended.
  init(
    produced: [Int: Int], outcome: RunOutcome, results: Int, drops: DropCounts = DropCounts()
  ) {
    self.init(
      produced: produced, tracks: outcome.tracks, frames: outcome.headline, results: results,
      pools: outcome.pools, waits: outcome.waits, drops: drops)
    halt = outcome.halt
    guard outcome.failureCount > 0 else { return }
    failures = Array(outcome.failures.prefix(RunSummary.failuresMax))
    failureCount = outcome.failureCount
  }
}

/// Drops of a live run so far, by stage and reason.
struct DropCounts: Hashable, Sendable {
  private var counts: [String: [String: Int]] = [:]

  /// Counts the drops among the decisions.
  mutating func note(_ decisions: [DecisionLine]) {
    for line in decisions where line.kind == .drop {
      guard let reason = line["reason"] else { continue }
      counts[line.node, default: [:]][reason, default: 0] += 1
    }
  }

  /// In the order of the node's IDs; `nil` without drops.
  var stages: [PipelineProgress.Stage]? {
    guard !counts.isEmpty else { return nil }
    return counts.keys.sorted().map { PipelineProgress.Stage(node: $0, dropped: counts[$0] ?? [:]) }
  }
}
