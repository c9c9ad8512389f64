public import Logging
public import Metrics
public import Retake

/// Reports a live pipeline to swift-metrics, and its failures to swift-log.
///
/// ```swift
/// let metrics = LiveMetrics(of: pipeline, logger: Logger(label: "vision"))
/// let recorder = try Recorder(
///   source, options: options, pipeline: LivePipeline(pipeline, registry: .builtIn),
///   watch: metrics.watch)
/// ```
/// For a `LiveSession`, pass its results, and from time to time its counts:
///
/// ```swift
/// for await result in session.results {
///   metrics.report(result)
///   metrics.report(session.counts)
/// }
/// ```
/// docs/metrics.md lists the metrics.
public final class LiveMetrics: Sendable {
  private let meters: Locked<RunMeters>

  /// - Parameters:
  ///   - pipeline: The pipeline that the session or the recorder runs.
  ///   - factory: Creates the metrics; by default the factory of `MetricsSystem`.
  ///   - logger: Receives failures; if `nil`, they are not logged.
  public init(
    of pipeline: Pipeline, factory: any MetricsFactory = MetricsSystem.factory,
    logger: Logger? = nil
  ) {
    meters = Locked(RunMeters(pipeline, factory: factory, logger: logger))
  }

  /// Reports the decisions and the results of a recorder's pipeline.
  public var watch: RecordingWatch {
    RecordingWatch(
      // A captured frame is counted when it has ended, together with how.
      captured: { _ in }, found: { self.report($0) },
      decided: { lines in self.meters.withLock { for line in lines { $0.decided(line) } } })
  }

  /// Reports the fate of a frame. May be called from any thread.
  public func report(_ result: LiveResult) {
    meters.withLock { meters in
      for failure in result.frame.failures { meters.failed(failure) }
      meters.finished(
        result.frame.result, arrivalNanoseconds: result.frame.arrivalNanoseconds,
        deliveries: result.deliveredNanoseconds)
    }
  }

  /// Reports the current pools, and the frames lost before capture. May be called from any thread.
  ///
  /// For a recorder, pass `recorder.liveCounts`.
  public func report(_ counts: LiveCounts) {
    meters.withLock { $0.counted(counts) }
  }
}
