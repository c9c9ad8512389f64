import Logging
import Metrics
import Retake

/// The metrics of one run. The names and the dimensions of all metrics are defined only here.
struct RunMeters: Sendable {
  /// The most metrics of one run, counting each combination of dimensions. The stages define the
  /// codes of failures, and their number has no bound.
  static let metersMax = 1_000
  /// The most failures of one stage and code that are logged; all of them are counted.
  static let loggedMax = 3

  private struct Name: Hashable, Sendable {
    var label: String
    var values: [String]
  }

  private let pipeline: String
  private let sinks: Set<String>
  private let factory: any MetricsFactory
  private let logger: Logger?
  private var counters: [Name: any CounterHandler] = [:]
  private var gauges: [Name: any RecorderHandler] = [:]
  private var timers: [Name: any TimerHandler] = [:]
  private var queues: QueueDepths
  private var logged: [Name: Int] = [:]
  /// By track, the frames lost at the source that have already been reported.
  private var lost: [Int: Int] = [:]

  init(_ pipeline: Pipeline, factory: any MetricsFactory, logger: Logger?) {
    self.pipeline = pipeline.name
    self.factory = factory
    self.logger = logger
    sinks = Set(pipeline.nodes.filter { $0.stage.signature.role == .sink }.map(\.id))
    queues = QueueDepths(pipeline)
  }

  func isSink(_ node: String) -> Bool { sinks.contains(node) }

  // MARK: What happens in a run

  mutating func decided(_ line: DecisionLine) {
    // source-lost: no sink sees the frame, so no result will ever name it.
    if line.kind == .lost {
      count("retake.frames.lost", [("node", line.node), ("reason", line["reason"] ?? "-")])
    }
    if let depth = queues.apply(line) {
      set("retake.queue.depth", depth, [("node", line.node)])
    }
  }

  /// - Parameter deliveries: When each outcome of the frame was delivered; `nil` if it ended.
  mutating func finished(_ result: FrameResult, arrivalNanoseconds: Int64, deliveries: [Int64?]) {
    count("retake.frames.captured", [])
    for (outcome, delivery) in zip(result.outcomes, deliveries) {
      switch outcome.content {
      case .facts:
        count("retake.frames.delivered", [("sink", outcome.sink)])
        if let delivery {
          record("retake.latency", delivery - arrivalNanoseconds, [("sink", outcome.sink)])
        }
      case .ended(let fate, let node):
        count(
          "retake.frames.ended",
          [
            ("sink", outcome.sink), ("fate", fate.word), ("node", node), ("reason", fate.reason),
          ])
      }
    }
  }

  mutating func failed(_ failure: StageFailure) {
    count("retake.failures", [("node", failure.node), ("code", failure.code)])
    guard let logger else { return }
    let name = Name(label: "", values: [failure.node, failure.code])
    // Bounded like the metrics: stages may make up any number of codes.
    guard logged.count < Self.metersMax || logged[name] != nil else { return }
    let number = logged[name, default: 0]
    logged[name] = number + 1
    // docs/metrics.md: a failure that halts the run is always logged.
    guard number < Self.loggedMax || !failure.isRecoverable else { return }
    logger.log(
      level: failure.isRecoverable ? .warning : .error, "\(failure.message)",
      metadata: [
        "pipeline": "\(pipeline)", "node": "\(failure.node)", "code": "\(failure.code)",
        "frame": "\(failure.frame)",
      ])
  }

  mutating func counted(_ counts: LiveCounts) {
    set("retake.frames.inflight", counts.ledger.inFlightNow, [])
    for pool in counts.pools {
      set("retake.pool.size", pool.size, ofPool: pool.pool)
      set("retake.pool.peak", pool.peak, ofPool: pool.pool)
      set("retake.pool.requests", pool.requests, ofPool: pool.pool)
      set("retake.pool.stalls", pool.stalls, ofPool: pool.pool)
    }
    for track in counts.tracks {
      let known = lost[track.track, default: 0]
      // The counts are totals, and a counter can only be raised, so the difference is added.
      guard track.lostBeforeCapture > known else { continue }
      lost[track.track] = track.lostBeforeCapture
      count(
        "retake.frames.missed", [("track", "\(track.track)")], by: track.lostBeforeCapture - known)
    }
  }

  mutating func set(_ label: String, _ value: Int, ofPool pool: String) {
    set(label, value, [("pool", pool)])
  }

  // MARK: Metrics

  private mutating func count(
    _ label: String, _ dimensions: [(String, String)], by amount: Int = 1
  ) {
    handler(label, dimensions, in: \.counters) { $0.makeCounter(label: $1, dimensions: $2) }?
      .increment(by: Int64(amount))
  }

  private mutating func set(_ label: String, _ value: Int, _ dimensions: [(String, String)]) {
    handler(label, dimensions, in: \.gauges) {
      // A gauge of swift-metrics is a recorder that does not aggregate.
      $0.makeRecorder(label: $1, dimensions: $2, aggregate: false)
    }?.record(Int64(value))
  }

  private mutating func record(
    _ label: String, _ nanoseconds: Int64, _ dimensions: [(String, String)]
  ) {
    handler(label, dimensions, in: \.timers) { $0.makeTimer(label: $1, dimensions: $2) }?
      .recordNanoseconds(nanoseconds)
  }

  /// The metric with this name. A new metric is created unless the limit is reached.
  private mutating func handler<Handler>(
    _ label: String, _ dimensions: [(String, String)],
    in known: WritableKeyPath<Self, [Name: Handler]>,
    make: (any MetricsFactory, String, [(String, String)]) -> Handler
  ) -> Handler? {
    // The values are enough: a label always comes with the same names of dimensions.
    let name = Name(label: label, values: dimensions.map(\.1))
    if let handler = self[keyPath: known][name] { return handler }
    guard hasRoom else { return nil }
    let handler = make(factory, label, all(dimensions))
    self[keyPath: known][name] = handler
    return handler
  }

  private var hasRoom: Bool { counters.count + gauges.count + timers.count < Self.metersMax }

  private func all(_ dimensions: [(String, String)]) -> [(String, String)] {
    [("pipeline", pipeline)] + dimensions
  }
}

extension FrameLedger {
  /// Captured frames that have not ended yet.
  fileprivate var inFlightNow: Int {
    captured - delivered - droppedTotal - throttled - replaced - failed
  }
}
