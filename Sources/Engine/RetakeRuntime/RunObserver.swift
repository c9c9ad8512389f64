public import RetakeBuffers
public import RetakeCore
package import RetakeGraph
public import RetakeTimePlane

/// The options of a run.
public struct RunOptions: Sendable {
  /// What determines the times of a run's frames and the durations of its stages.
  public enum Mode: String, Sendable, CaseIterable, Codable {
    /// Frames arrive at their presentation times, costs are zero and queues unbounded: no queue
    /// drops a frame. Throttles, routes and joins still act.
    case everyFrame = "every-frame"
    /// Frames arrive when they reached the recorder, stages take their costs, and all decisions are
    /// made again from these times.
    case simulate
    /// A live run gets its recorded events again. `PreparedRun` does not do that: see
    /// `Reproduction`.
    case reproduce

    /// The modes that decide in virtual time.
    package static let virtual: [Mode] = [.everyFrame, .simulate]
  }

  /// Longer than any body should take, and short enough for a person to wait.
  public static let defaultWatchdog = Duration.seconds(60)
  /// The default of `workers`. The number itself is in the initializer, where users read it.
  package static let workersDefault = RunOptions().workers
  package static let workersRange = 0...Workers.countMax

  /// `every-frame` by default.
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
  package var runAhead: Bool
  /// Changes to the device and to the pipeline, in addition to the session's.
  package var overrides: [RunOverride] = []
  /// Seeds real delays before each computation; for `verify`.
  package var perturbation: UInt64?
  /// How long, in real time, a body may take before the run ends with `RuntimeError.hung`; `nil`
  /// and zero wait without a limit. A hang may be noticed up to a quarter of that time late.
  public var watchdog: Duration?
  /// The clock of the watchdog.
  package var clock: any LiveClock = WallClock()
  /// The origin of virtual costs; `every-frame` uses none.
  package var costs = RunCosts.declared
  /// Receives what stages tell during the run, on the threads that compute.
  package var notices: (@Sendable (StageNotice) -> Void)?
  /// Whether memory is filled with a pattern before a stage gets it; for `verify`.
  package var poisonsMemory = false
  /// The memory of the stages' frames, for a caller that looks at it; `nil` makes the run's own.
  package var memory: RunMemory?
  /// The values that earlier runs stored, and the place where this run stores its own; changes the
  /// speed only.
  package var cache: (any ValueCache)?
  /// Called between events; `true` ends the run with `RuntimeError.interrupted`.
  public var isInterrupted: (@Sendable () -> Bool)?

  /// `workers`, `window`, `runAhead` and `perturbation` change only the speed of a run, never its
  /// results. Values are checked when the run begins: it throws `RuntimeError.badOption` for the
  /// mode `reproduce`, for `workers` outside 0 to 256, and for a `window` outside 1 to 4,096.
  ///
  /// ```swift
  /// var options = RunOptions(mode: .simulate, workers: 4)
  /// options.seed = 7
  /// ```
  ///
  /// - Parameters:
  ///   - mode: Where times come from: `every-frame` for values alone, `simulate` for drops as well.
  ///   - workers: Threads that compute, including the one that decides; 0 and 1 compute on that one
  ///     alone.
  ///   - seed: Another seed draws other costs, where costs are not fixed. In `every-frame` it has
  ///     no effect.
  ///   - window: Frames that are computed ahead; `nil` chooses a number that fits into memory.
  ///   - runAhead: `false` computes a value only when virtual time needs it.
  ///   - perturbation: Seeds random real delays before each computation, which must not change any
  ///     result; `nil` = no delays.
  ///   - watchdog: How long, in real time, one body may take before the run ends with
  ///     `RuntimeError.hung`; `nil` and zero wait without a limit.
  ///   - isInterrupted: Asked between events, on the thread of the run; `true` ends the run with
  ///     `RuntimeError.interrupted`. `nil` never does.
  public init(
    mode: Mode = .everyFrame, workers: Int = 2, seed: UInt64 = 0, window: Int? = nil,
    runAhead: Bool = true, perturbation: UInt64? = nil,
    watchdog: Duration? = RunOptions.defaultWatchdog,
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
  /// The frame's row in the index, with its ID. Its times are not shifted to the replay's origin.
  public var entry: FrameEntry
  /// Virtual time of its arrival, in nanoseconds from the replay's origin.
  public var arrivalNanoseconds: Int64
  /// What each sink of the frame's source received, or how the frame ended before it.
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
  /// The node's ID; `OBJECTS/NODE` in the body of the forEach `OBJECTS`, and an ID that ends in
  /// `/convert` for an inserted conversion.
  public var id: String
  /// The stage's name in documents, such as `motion`.
  public var kind: String
  /// What the node does with frames.
  public var role: StageRoleName
  /// IDs of the nodes that it reads from, in the order of its ports.
  public var inputs: [String]
  /// The executor whose servers handle the node's frames; `nil` for nodes that take no server.
  package var executor: RunExecutor?
  /// The track that a source reads.
  public var track: Int?

  /// The cases of `StageRole`, by name.
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

extension [RunNode] {
  /// The source whose frames reach a node, which are those of its first input; `nil` for nodes that
  /// do not exist.
  package func source(of id: String) -> String? {
    var node = first { $0.id == id }
    // Bounded: a pipeline has no loops.
    while let found = node, let input = found.inputs.first {
      node = first { $0.id == input }
    }
    return node?.id
  }
}

/// Modelled servers that the nodes of one executor share.
package struct RunExecutor: Hashable, Sendable {
  /// The ID of a declared executor, or of the only node that it serves.
  package var id: String
  /// Bodies that may be in service at once in virtual time; 1 unless declared otherwise.
  package var servers: Int
}

/// Notified of everything that a run decides and computes. The decisions have the same order in
/// every run, and so do the frames. How the two sequences interleave depends on the machine.
///
/// A run calls `began` first. During the run, it calls `decided`, `failed`, `leased`, `resized` and
/// `measured` as things happen in virtual time, and `finished` for each captured frame, in the
/// order of capture. Only `finished` must be implemented.
///
/// ```swift
/// final class DropLog: RunObserver {
///   private(set) var drops: [FrameID] = []
///
///   var wantsDecisions: Bool { true }
///
///   func decided(_ line: DecisionLine) {
///     if line.kind == .drop, let frame = line.frame { drops.append(frame) }
///   }
///
///   func finished(_ frame: FinishedFrame) {}
/// }
/// ```
///
/// After `began`, all calls come from one thread, the thread of the run. They delay the run, so a
/// slow observer slows it down. An error of `began` or `finished` ends the run, which throws it.
public protocol RunObserver: AnyObject {
  /// Whether `decided` is called; `false` by default. Read when the run begins.
  var wantsDecisions: Bool { get }
  /// Whether frames carry the digest of each stage's output, which costs time; `false` by default.
  var wantsDigests: Bool { get }
  /// Whether `finished` is called as soon as a frame's results are known, even if the bodies of
  /// later frames are still being computed; needs one more thread. `false` by default.
  var isFollowed: Bool { get }
  /// Called once, before the first decision, on the thread that started the run.
  ///
  /// - Parameter nodes: The nodes in topological order, with inserted conversions.
  func began(nodes: [RunNode]) throws
  /// A decision was made, such as a drop or the start of a body. Called for every decision line, in
  /// their order, if `wantsDecisions` is `true`. The kinds are those of docs/decisions.md.
  func decided(_ line: DecisionLine)
  /// Frames use another number of a pool's buffers than before. Called after the decisions of the
  /// event that changed the number; never in `every-frame`, where pools are unbounded.
  ///
  /// - Parameters:
  ///   - buffers: How many buffers are in use from now on.
  ///   - pool: The pool's ID.
  ///   - nanoseconds: Virtual time from the replay's origin.
  func leased(_ buffers: Int, of pool: String, at nanoseconds: Int64)
  /// A pool that adapts to the load had no buffer for another request.
  ///
  /// - Parameters:
  ///   - requests: How many requests found no buffer since the run began; a wait counts once.
  ///   - pool: The pool's ID.
  ///   - nanoseconds: Virtual time from the replay's origin.
  func stalled(_ requests: Int, of pool: String, at nanoseconds: Int64)
  /// A pool has another number of buffers than before, because it adapts to the load. Each pool is
  /// reported for the first time at the first event; never in `every-frame`.
  ///
  /// - Parameters:
  ///   - buffers: How many buffers the pool has from now on, in use or free.
  ///   - pool: The pool's ID.
  ///   - nanoseconds: Virtual time from the replay's origin.
  func resized(_ buffers: Int, of pool: String, at nanoseconds: Int64)
  /// A tick of the device profile's heat model has ended; never without a heat model.
  ///
  /// - Parameter nanoseconds: Virtual time from the replay's origin.
  func warmed(to temperature: Temperature, at nanoseconds: Int64)
  /// A stage or a source failed on a frame, or on an item of it. Called at its place in the
  /// sequence of decisions. If `failure.isRecoverable` is `false`, the run halts here.
  func failed(_ failure: StageFailure)
  /// A body was measured, in a run that measures costs instead of modelling them; no other run
  /// calls this. The span's `ready` equals its start, in virtual time, and its length is the
  /// processor time that the body took.
  func measured(_ span: CostSpan)
  /// A captured frame has its outcome at every sink. Called once for each captured frame, in the
  /// order of capture, and after a halt also for frames that were left in flight. Frames that were
  /// lost before capture are not reported.
  func finished(_ frame: FinishedFrame) throws
}

extension RunObserver {
  public var wantsDecisions: Bool { false }
  public var wantsDigests: Bool { false }
  public var isFollowed: Bool { false }
  public func began(nodes: [RunNode]) throws {}
  public func decided(_ line: DecisionLine) {}
  public func leased(_ buffers: Int, of pool: String, at nanoseconds: Int64) {}
  public func stalled(_ requests: Int, of pool: String, at nanoseconds: Int64) {}
  public func resized(_ buffers: Int, of pool: String, at nanoseconds: Int64) {}
  public func warmed(to temperature: Temperature, at nanoseconds: Int64) {}
  public func failed(_ failure: StageFailure) {}
  public func measured(_ span: CostSpan) {}
}

/// What became of the frames of a run, in numbers: the result of `LiveSession.stop()`, and of a
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
  /// What became of the captured frames of one track at one sink.
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
    /// Frames that the pipeline had no room for when they arrived. No ledger counts them.
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
  /// also those that were refused. No ledger counts them. Always 0 in `every-frame`.
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
  /// Services whose cost came from timings or was measured. 0 in `every-frame`, where nothing has a
  /// cost, and in a live run.
  package var recordedCosts = 0
  /// Services whose cost was declared or drawn. 0 in `every-frame` and in a live run.
  package var modelledCosts = 0
  /// Failures of stages and sources, in the order in which they happened: the first 1,000.
  /// `failureCount` is the number of all.
  public var failures: [StageFailure] = []
  /// The number of all failures; in a forEach each item counts.
  public var failureCount = 0
  /// The unrecoverable failure that halted the run; `nil` if none did. Frames that had not ended by
  /// then are in flight.
  public var halt: StageFailure?

  package static let failuresMax = 1_000

  mutating func note(_ failure: StageFailure) {
    failureCount += 1
    if failures.count < Self.failuresMax { failures.append(failure) }
  }
}
