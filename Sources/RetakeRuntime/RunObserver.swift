import RetakeBuffers
import RetakeCore
import RetakeTimePlane

/// The options of a run.
public struct RunOptions: Sendable {
  public enum Mode: String, Sendable, CaseIterable, Codable {
    /// Costs are zero and queues unbounded: every frame goes through.
    case lossless
    /// The decisions are made again from costs.
    case redecide
    /// A live run gets its recorded events again. `PreparedRun` does not do that: see
    /// `Reenactment`.
    case reenact

    /// The modes that decide in virtual time.
    public static let virtual: [Mode] = [.lossless, .redecide]
  }

  /// Longer than any body should take, and short enough for a person to wait.
  public static let watchdogStandard = Duration.seconds(60)

  public var mode: Mode
  /// Threads that compute, including the time plane; changes the speed and nothing else.
  public var workers: Int
  /// Seeds every draw of a cost.
  public var seed: UInt64
  /// The largest number of frames that are computed ahead of the frame whose result is due, and
  /// also the largest number of frames whose results wait to be reported; `nil` = as many as fit
  /// into some megabytes. Changes the speed only.
  public var window: Int?
  /// Whether values are computed before virtual time needs them; changes the speed only.
  public var runAhead: Bool
  /// Changes to the device and to the pipeline, in addition to the session's.
  package var overrides: [RunOverride] = []
  /// Seeds real delays before each computation; for `verify`.
  package var perturbation: UInt64?
  /// How long, in real time, a body may take before the run ends with `RuntimeError.hung`; `nil`
  /// and zero wait without a limit. A hang may be noticed up to a quarter of that time late.
  public var watchdog: Duration?
  /// The clock of the watchdog.
  package var clock: any LiveClock = WallClock()
  /// The origin of virtual costs; `lossless` uses none.
  package var costs = RunCosts.declared
  /// The values that earlier runs stored, and the place where this run stores its own; changes the
  /// speed only.
  package var cache: (any ValueCache)?
  /// Called between events; `true` ends the run with `RuntimeError.interrupted`.
  public var isInterrupted: (@Sendable () -> Bool)?

  public init(
    mode: Mode = .lossless, workers: Int = 2, seed: UInt64 = 0, window: Int? = nil,
    runAhead: Bool = true, perturbation: UInt64? = nil,
    watchdog: Duration? = RunOptions.watchdogStandard,
    isInterrupted: (@Sendable () -> Bool)? = nil
  ) {
    self.mode = mode
    self.workers = workers
    self.seed = seed
    self.window = window
    self.runAhead = runAhead
    self.perturbation = perturbation
    self.watchdog = watchdog
    self.isInterrupted = isInterrupted
  }
}

/// The digest of a stage's output for one frame.
public enum NodeDigest: Hashable, Sendable {
  case value(Digest128)
  /// The stage failed; the digest is of its code.
  case failed(Digest128)
  case notRun
}

/// A captured frame whose outcome is known at all sinks.
public struct FinishedFrame: Sendable {
  public var entry: FrameEntry
  /// Virtual time of its arrival, in nanoseconds from the replay's origin.
  public var arrivalNanoseconds: Int64
  public var result: FrameResult
  /// The class names that came with a sink's detections, by sink as in `result`; empty if there
  /// were none.
  public var classNames: [[String]]
  /// The images that sinks received, by sink as in `result`; `nil` if the value was not an image.
  public var pictures: [Frame?] = []
  /// Failures of its stages and its source, in the order in which they happened; at most one per
  /// node.
  public var failures: [StageFailure] = []
  /// One per node whose role `isDigested`, in topological order; empty unless the observer wants
  /// digests.
  public var digests: [NodeDigest]
}

/// A node as an observer sees it, such as a stage or an inserted conversion.
public struct RunNode: Hashable, Sendable {
  public var id: String
  public var kind: String
  public var role: StageRoleName
  /// IDs of the nodes that it reads from, in the order of its ports.
  public var inputs: [String]
  /// The executor whose servers handle the node's frames; `nil` for nodes that take no server.
  public var executor: RunExecutor?
  /// The track that a source reads.
  public var track: Int?

  public enum StageRoleName: String, Hashable, Sendable {
    case source, pure, stateful, throttle, sample, route, join, latest, fork, gather, sink

    /// Whether a frame's stage digests include the output of such nodes. Other nodes pass their
    /// input on unchanged.
    package var isDigested: Bool {
      switch self {
      case .source, .pure, .stateful, .join, .latest, .gather: true
      case .throttle, .sample, .route, .fork, .sink: false
      }
    }
  }
}

/// Modelled servers that the nodes of one executor share.
public struct RunExecutor: Hashable, Sendable {
  /// The ID of a declared executor, or of the only node that it serves.
  public var id: String
  public var servers: Int
}

/// Notified of everything that a run decides and computes. The decisions have the same order in
/// every run, and so do the frames. How the two sequences interleave depends on the machine.
///
/// Called by one thread, the thread of the run. Throwing from a call ends the run with that error.
public protocol RunObserver: AnyObject {
  /// Whether `decided` is called.
  var wantsDecisions: Bool { get }
  /// Whether frames carry the digest of each stage's output.
  var wantsDigests: Bool { get }
  /// Whether `finished` is called as soon as a frame's results are known, even if the bodies of
  /// later frames are still being computed; needs one more thread.
  var isFollowed: Bool { get }
  /// The nodes in topological order, with inserted conversions.
  func began(nodes: [RunNode]) throws
  func decided(_ line: DecisionLine)
  /// From this virtual time on, the pool has this number of leased buffers. Called when the number
  /// changes, after the decisions of the event that changed it; never in `lossless`, where pools
  /// are unbounded.
  func leased(_ buffers: Int, of pool: String, at nanoseconds: Int64)
  /// From this virtual time on, a pool that adapts to the load has this number of buffers. Called
  /// when the number changes, for the first time at the first event; never in `lossless`.
  func resized(_ buffers: Int, of pool: String, at nanoseconds: Int64)
  /// A stage or a source failed; called at its place in the sequence of decisions.
  func failed(_ failure: StageFailure)
  /// The cost of a body, in a run that measures costs; its `ready` equals its start.
  func measured(_ span: CostSpan)
  /// A frame has its results. Called in the order of capture.
  func finished(_ frame: FinishedFrame) throws
}

extension RunObserver {
  public var wantsDecisions: Bool { false }
  public var wantsDigests: Bool { false }
  public var isFollowed: Bool { false }
  public func began(nodes: [RunNode]) throws {}
  public func decided(_ line: DecisionLine) {}
  public func leased(_ buffers: Int, of pool: String, at nanoseconds: Int64) {}
  public func resized(_ buffers: Int, of pool: String, at nanoseconds: Int64) {}
  public func failed(_ failure: StageFailure) {}
  public func measured(_ span: CostSpan) {}
}

/// The counts of a run.
public struct RunOutcome: Hashable, Sendable {
  /// By sink and track; the primary sink's totals are `headline`.
  public struct LedgerEntry: Hashable, Sendable {
    public var sink: String
    public var track: Int
    public var ledger: FrameLedger
  }

  /// The frames of a track at their source: each frame that arrived was captured or lost.
  public struct TrackCounts: Hashable, Sendable {
    public var track: Int
    public var captured = 0
    public var lostBeforeCapture = 0

    package init(track: Int) {
      self.track = track
    }
  }

  package var headline: FrameLedger
  public var ledgers: [LedgerEntry]
  /// Counts of the sinks that are screens, in the order of their IDs; only in `redecide`.
  public var screens: [ScreenCounts] = []
  /// Counts of the pools that adapt to the load, in the pipeline's order; empty in `lossless`.
  public var pools: [PoolCounts] = []
  public var lostBeforeCapture = 0
  /// Set by a live run: the tracks that its sources read, in order.
  public var tracks: [TrackCounts] = []
  /// How often a live run was notified that a track delivers no frames for now.
  public var sourcesLost = 0
  public var payloadMissing = 0
  public var decisions = 0
  public var decisionDigest = Digest128.zero
  /// Costs from a tape, or measured, one per service. In `lossless`, nothing has a cost.
  public var recordedCosts = 0
  /// Costs that were declared or drawn.
  public var modelledCosts = 0
  /// In the order in which they happened; at most `failuresMax`, further ones are only counted.
  public var failures: [StageFailure] = []
  public var failureCount = 0
  /// The failure that halted the run.
  public var halt: StageFailure?

  package static let failuresMax = 1_000

  mutating func note(_ failure: StageFailure) {
    failureCount += 1
    if failures.count < Self.failuresMax { failures.append(failure) }
  }
}
