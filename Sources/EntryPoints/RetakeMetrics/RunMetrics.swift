public import Logging
public import Metrics
public import Retake

/// Reports a replay to swift-metrics while it runs, and its failures to swift-log.
///
/// ```swift
/// let metrics = RunMetrics(of: replay.pipeline, logger: Logger(label: "vision"))
/// let summary = try replay.run(observers: [metrics])
/// ```
/// docs/metrics.md lists the metrics. Times are virtual, as in the replay.
public final class RunMetrics: RunObserver {
  private var meters: RunMeters
  /// By sink, the virtual delivery times of frames in flight, which are not reported yet.
  private var deliveries: [FrameID: [String: Int64]] = [:]

  /// Always true: queue depths, lost frames and delivery times come from the decisions.
  public var wantsDecisions: Bool { true }

  /// - Parameters:
  ///   - pipeline: The pipeline of the replay.
  ///   - factory: Creates the metrics; by default the factory of `MetricsSystem`.
  ///   - logger: Receives failures; if `nil`, they are not logged.
  public init(
    of pipeline: Pipeline, factory: any MetricsFactory = MetricsSystem.factory,
    logger: Logger? = nil
  ) {
    meters = RunMeters(pipeline, factory: factory, logger: logger)
  }

  /// Counts frames that a source lost, and updates the depth of the node's queue.
  public func decided(_ line: DecisionLine) {
    // Only the decisions have the time at which a frame reached a sink; its result does not.
    if line.kind == .deliver, let frame = line.frame, meters.isSink(line.node) {
      deliveries[frame, default: [:]][line.node] = line.time
    }
    meters.decided(line)
  }

  /// Sets the number of leased buffers of a pool.
  public func leased(_ buffers: Int, of pool: String, at nanoseconds: Int64) {
    meters.set("retake.pool.leases", buffers, ofPool: pool)
  }

  /// Sets the size of a pool, in buffers.
  public func resized(_ buffers: Int, of pool: String, at nanoseconds: Int64) {
    meters.set("retake.pool.size", buffers, ofPool: pool)
  }

  /// Counts a failed stage call, and logs it if there is a logger.
  public func failed(_ failure: StageFailure) { meters.failed(failure) }

  /// Counts a captured frame and its fate at each sink, and records its latency from arrival to
  /// delivery.
  public func finished(_ frame: FinishedFrame) {
    let times = deliveries.removeValue(forKey: frame.result.id) ?? [:]
    meters.finished(
      frame.result, arrivalNanoseconds: frame.arrivalNanoseconds,
      deliveries: frame.result.outcomes.map { times[$0.sink] })
  }
}
