import Foundation
package import RetakeBuffers
package import RetakeGraph
package import RetakeTimePlane

/// The options of a run.
public struct RunOptions: Sendable {
  /// The mode determines the times of a run's frames and the durations of its stages.
  public enum Mode: String, Sendable, CaseIterable, Codable {
    /// Frames arrive at their presentation times, costs are zero and queues unbounded: no queue
    /// drops a frame. Throttles, routes and joins still act.
    case everyFrame = "every-frame"
    /// Frames arrive when they reached the recorder, services last as long as their costs, and all
    /// decisions are made again from these times.
    case simulate
    /// A live run gets its recorded events again. `PreparedRun` does not do that: see
    /// `Reproduction`.
    case reproduce

    /// The modes that decide in virtual time.
    package static let virtual: [Mode] = [.everyFrame, .simulate]
  }

  /// Longer than any body should run, and short enough for a person to wait.
  public static let defaultWatchdog = Duration.seconds(60)
  /// The default of `workers`. The number itself is in the initializer, where users read it.
  package static let workersDefault = RunOptions().workers
  package static let workersRange = 0...Workers.countMax

  /// The number of `workers` if `cases` cases that run at once share all processors.
  package static func workers(sharedBy cases: Int) -> Int {
    max(cases == 1 ? workersDefault : 1, ProcessInfo.processInfo.activeProcessorCount / cases)
  }

  /// `every-frame` by default.
  public var mode: Mode
  /// Worker threads, including the time plane. Affects speed only.
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
  /// How long, in real time, a body may run before the run ends with `RuntimeError.hung`; `nil` and
  /// zero wait without a limit. A hang may be noticed up to a quarter of that time late.
  public var watchdog: Duration?
  /// The clock of the watchdog.
  package var clock: any LiveClock = WallClock()
  /// The origin of virtual costs; `every-frame` uses no costs.
  package var costs = RunCosts.declared
  /// Receives the notices of stages during the run, on the worker threads.
  package var notices: (@Sendable (StageNotice) -> Void)?
  /// Whether memory is filled with a pattern before a stage gets it; for `verify`.
  package var poisonsMemory = false
  /// Whether a stage that can computes the frames of a batch in one call; `false` for `verify`.
  package var callsBatches = true
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
  ///   - workers: Worker threads, including the thread that decides; with 0 and 1, this thread
  ///     computes all stages but the pinned stages.
  ///   - seed: Another seed draws other costs, where costs are not fixed. In `every-frame` it has
  ///     no effect.
  ///   - window: Frames that are computed ahead; `nil` chooses a number that fits into memory.
  ///   - runAhead: `false` computes a value only when virtual time needs it.
  ///   - perturbation: Seeds random real delays before each computation, which must not change any
  ///     result; `nil` = no delays.
  ///   - watchdog: How long, in real time, one body may run before the run ends with
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
