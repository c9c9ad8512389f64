package import RetakeGraph

/// How a pipeline runs live.
public struct LiveOptions: Sendable {
  /// Threads that compute, in addition to the decision thread. The default is the number of
  /// processors, but at least 2 and at most 4.
  public var workers: Int
  /// Frames that may wait for a decision. A frame waits for microseconds, unless the machine
  /// stalls. A frame beyond the bound is lost before capture.
  public var waitingFramesMax = 64
  /// Results that may wait for the reader of `LiveSession.results`; the oldest are dropped first.
  public var waitingResultsMax = 1_024
  /// Deliveries that may wait for slow sinks. At the bound, decisions wait for the sinks, and
  /// frames are lost before capture.
  public var waitingDeliveriesMax = 1_024
  /// How long `stop` waits, in real time, for frames in flight.
  public var drain = Duration.seconds(1)
  /// The niceness of the worker threads, 0 to 19 (nice(2)): the higher, the more they leave the
  /// processor to other threads. With a preview of the same frames, `nicenessBelowPreview` keeps
  /// its image ahead of the detections. It has an effect on Linux.
  public var niceness = 0
  /// About a tenth of the processor, as long as a thread of normal priority needs it.
  public static let nicenessBelowPreview = 10
  /// Receives the notices of stages during the run, on the worker threads.
  package var notices: (@Sendable (StageNotice) -> Void)?

  /// `nil` is the default of `workers`. `LiveSession.init` throws `RuntimeError.badOption` for a
  /// number outside 1 to 255, and for a bound below 1.
  public init(workers: Int? = nil) {
    self.workers = workers ?? Self.defaultWorkers
  }
}
