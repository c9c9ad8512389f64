import RetakeBuffers
import RetakeCore

/// What a run was asked to do.
public struct RunOptions: Sendable {
  public enum Mode: String, Sendable, CaseIterable, Codable {
    /// Costs are zero and queues unbounded: every frame goes through.
    case lossless
    /// The decisions are made again from costs.
    case redecide
    /// A live run is told again what it was told. No `PreparedRun` does that: see `Reenactment`.
    case reenact

    /// Those that decide in virtual time.
    public static let virtual: [Mode] = [.lossless, .redecide]
  }

  /// Longer than any body should take, and shorter than anybody's patience.
  public static let watchdogStandard = Duration.seconds(60)

  public var mode: Mode
  /// Threads that compute, the time plane included; changes the speed and nothing else.
  public var workers: Int
  /// Seeds every draw of a cost.
  public var seed: UInt64
  /// The most frames that are computed ahead of the one whose result is due, and again the most whose
  /// results wait to be told; `nil` = as many as fit into some megabytes. Changes the speed only.
  public var window: Int?
  /// Whether values are computed before virtual time asks for them; changes the speed only.
  public var runAhead: Bool
  /// What happens to the device and to the pipeline besides what the session says.
  public var overrides: [RunOverride] = []
  /// Seeds real delays before each computation; for `verify`.
  public var perturbation: UInt64?
  /// How long, in real time, a body may take before the run ends with `RuntimeError.hung`; `nil`
  /// and zero wait for ever. It may take a quarter as long again until that is noticed.
  public var watchdog: Duration?
  /// What the watchdog goes by.
  package var clock: any LiveClock = WallClock()
  /// Where virtual costs come from; `lossless` asks for none.
  public var costs = RunCosts.declared
  /// What earlier runs kept, and where this one keeps what it computes; changes the speed only.
  package var cache: (any ValueCache)?
  /// Asked between events; `true` ends the run with `RuntimeError.interrupted`.
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

/// What a stage gave for one frame, as a digest.
public enum NodeDigest: Hashable, Sendable {
  case value(Digest128)
  /// The stage failed; the digest is of its code.
  case failed(Digest128)
  case notRun
}

/// A captured frame of which all sinks know what became of it.
public struct FinishedFrame: Sendable {
  public var entry: FrameEntry
  /// Virtual time of its arrival, in nanoseconds from the replay's origin.
  public var arrivalNanoseconds: Int64
  public var result: FrameResult
  /// The class names that came with a sink's detections, by sink as in `result`; empty where none
  /// came.
  public var classNames: [[String]]
  /// The pictures that sinks received, by sink as in `result`; `nil` where it was none.
  public var pictures: [Frame?] = []
  /// Of its stages and its source, in the order in which they happened; at most one a node.
  public var failures: [StageFailure] = []
  /// One per node whose role `isDigested`, in topological order; empty unless the observer wants
  /// digests.
  public var digests: [NodeDigest]
}

/// A node as an observer sees it.
public struct RunNode: Hashable, Sendable {
  public var id: String
  public var kind: String
  public var role: StageRoleName
  /// Ids of the nodes that it reads from, in the order of its ports.
  public var inputs: [String]
  /// Whose servers work on its frames; `nil` for nodes that take no server.
  public var executor: RunExecutor?
  /// The track that a source reads.
  public var track: Int?

  public enum StageRoleName: String, Hashable, Sendable {
    case source, pure, stateful, throttle, sample, route, join, latest, fork, gather, sink

    /// Whether the output of such nodes is among a frame's stage digests: others hand on what they
    /// got.
    public var isDigested: Bool {
      switch self {
      case .source, .pure, .stateful, .join, .latest, .gather: true
      case .throttle, .sample, .route, .fork, .sink: false
      }
    }
  }
}

/// Modelled servers that the nodes of one executor share.
public struct RunExecutor: Hashable, Sendable {
  /// The declared one's, or that of the only node that it serves.
  public var id: String
  public var servers: Int
}

/// Told of everything that a run decides and computes. The decisions have one order in every run,
/// and so have the frames; how the two come between each other is the machine's affair.
///
/// Called by one thread, the one that runs; throwing from a call ends the run with that error.
public protocol RunObserver: AnyObject {
  /// Whether `decided` shall be called.
  var wantsDecisions: Bool { get }
  /// Whether frames shall carry the digest of each stage's output.
  var wantsDigests: Bool { get }
  /// Whether `finished` is called as soon as a frame's results are known, even if the bodies of
  /// later frames are still being computed; costs one thread more.
  var isFollowed: Bool { get }
  /// The nodes in topological order, inserted conversions included.
  func began(nodes: [RunNode]) throws
  func decided(_ line: DecisionLine)
  /// From this virtual time on so many buffers of a pool are leased. Told when the number changes,
  /// after the decisions of the event that changed it; never in `lossless`, where pools have no end.
  func leased(_ buffers: Int, of pool: String, at nanoseconds: Int64)
  /// From this virtual time on a pool that follows the load has so many buffers. Told when the number
  /// changes, the first one with the first event; never in `lossless`.
  func resized(_ buffers: Int, of pool: String, at nanoseconds: Int64)
  /// A stage or a source failed, at this place between the decisions.
  func failed(_ failure: StageFailure)
  /// What a body took, in a run that measures them; its `ready` is its start.
  func measured(_ span: CostSpan)
  /// In the order of capture.
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

/// A run in numbers.
public struct RunOutcome: Hashable, Sendable {
  /// By sink and track; the primary sink's totals are `headline`.
  public struct LedgerEntry: Hashable, Sendable {
    public var sink: String
    public var track: Int
    public var ledger: FrameLedger
  }

  /// What became of a track's frames at their source: each that came was captured or lost.
  public struct TrackCounts: Hashable, Sendable {
    public var track: Int
    public var captured = 0
    public var lostBeforeCapture = 0

    public init(track: Int) {
      self.track = track
    }
  }

  public var headline: FrameLedger
  public var ledgers: [LedgerEntry]
  /// Of the sinks that are screens, in the order of their ids; only where virtual time is bounded.
  public var screens: [ScreenCounts] = []
  /// Of the pools that follow the load, as the pipeline lists them; none in `lossless`.
  public var pools: [PoolCounts] = []
  public var lostBeforeCapture = 0
  /// Of a live run: those that its sources read, in order.
  public var tracks: [TrackCounts] = []
  /// How often a live run heard that a track brings no frames for now.
  public var sourcesLost = 0
  public var payloadMissing = 0
  public var decisions = 0
  public var decisionDigest = Digest128.zero
  /// Costs from a tape, or measured, one a service. In `lossless` nothing has a cost.
  public var recordedCosts = 0
  /// Costs that were declared or drawn.
  public var modelledCosts = 0
  /// In the order in which they happened; at most `failuresMax`, then counted only.
  public var failures: [StageFailure] = []
  public var failureCount = 0
  /// The failure that halted the run.
  public var halt: StageFailure?

  public static let failuresMax = 1_000

  mutating func note(_ failure: StageFailure) {
    failureCount += 1
    if failures.count < Self.failuresMax { failures.append(failure) }
  }
}
