import Metrics
import Synchronization

/// Stores the reported values, by label and dimensions: `retake.latency{pipeline=motion,sink=out}`.
final class InMemoryMetrics: MetricsFactory {
  private let kept = Mutex<[String: [Int64]]>([:])

  /// In the order in which they were reported.
  func values(_ name: String) -> [Int64] { kept.withLock { $0[name] ?? [] } }
  func sum(_ name: String) -> Int64 { values(name).reduce(0, +) }
  var names: [String] { kept.withLock { $0.keys.sorted() } }

  fileprivate func keep(_ value: Int64, _ name: String) {
    kept.withLock { $0[name, default: []].append(value) }
  }

  private func handler(_ label: String, _ dimensions: [(String, String)]) -> Handler {
    let text = dimensions.map { "\($0.0)=\($0.1)" }.joined(separator: ",")
    return Handler(name: "\(label){\(text)}", metrics: self)
  }

  func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    handler(label, dimensions)
  }

  func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler { handler(label, dimensions) }

  func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    handler(label, dimensions)
  }

  func destroyCounter(_ handler: any CounterHandler) {}
  func destroyRecorder(_ handler: any RecorderHandler) {}
  func destroyTimer(_ handler: any TimerHandler) {}
}

/// One metric of any kind.
private final class Handler: CounterHandler, RecorderHandler, TimerHandler {
  private let name: String
  private let metrics: InMemoryMetrics

  init(name: String, metrics: InMemoryMetrics) {
    (self.name, self.metrics) = (name, metrics)
  }

  func increment(by amount: Int64) { metrics.keep(amount, name) }
  func reset() {}
  func record(_ value: Int64) { metrics.keep(value, name) }
  func record(_ value: Double) { metrics.keep(Int64(value), name) }
  func recordNanoseconds(_ duration: Int64) { metrics.keep(duration, name) }
}
