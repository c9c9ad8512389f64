import Logging
import Metrics
import Retake

/// Reports a pipeline that runs live to swift-metrics, and its failures to swift-log.
///
/// ```swift
/// let metrics = LiveMetrics(of: pipeline, logger: Logger(label: "vision"))
/// let recorder = try Recorder(
///   source, options: options, pipeline: LivePipeline(pipeline, registry: .builtIn),
///   watch: metrics.watch)
/// ```
/// Of a `LiveSession`, hand over its results, and its counts now and then:
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
  ///   - factory: Makes the metrics; the one that `MetricsSystem` was given if not said.
  ///   - logger: Takes failures; none are logged without one.
  public init(
    of pipeline: Pipeline, factory: any MetricsFactory = MetricsSystem.factory,
    logger: Logger? = nil
  ) {
    meters = Locked(RunMeters(pipeline, factory: factory, logger: logger))
  }

  /// Reports what a recorder's pipeline decides and finds.
  public var watch: RecordingWatch {
    RecordingWatch(
      captured: { _ in }, found: { self.report($0) },
      decided: { lines in self.meters.withLock { for line in lines { $0.decided(line) } } })
  }

  /// Reports what became of a frame; from any thread.
  public func report(_ result: LiveResult) {
    meters.withLock { meters in
      for failure in result.frame.failures { meters.failed(failure) }
      meters.finished(
        result.frame.result, arrivalNanoseconds: result.frame.arrivalNanoseconds,
        deliveries: result.deliveredNanoseconds)
    }
  }

  /// Reports the pools as they are now, and frames that were lost before capture; from any thread.
  ///
  /// A recorder's own are `recorder.liveCounts`.
  public func report(_ counts: LiveCounts) {
    meters.withLock { $0.counted(counts) }
  }
}
