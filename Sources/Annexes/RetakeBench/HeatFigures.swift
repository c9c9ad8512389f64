import RetakeCore

/// The results of one trial on one phone. They are integers, so that they are the same on every
/// machine. Times are in nanoseconds.
package struct HeatFigures: Hashable, Sendable, Codable {
  package var trial: String
  package var phone: String
  /// Frames that were captured, and frames that reached the primary sink.
  package var captured: Int
  package var delivered: Int
  package var copiedBytesPerSecond: Int
  package var milliwattsMean: Int
  /// When it was first serious or critical; `nil` if it never was.
  package var seriousAt: Int64?
  package var criticalAt: Int64?
  package var hottestMillidegrees: Int
  /// How often the phone got hotter and was then serious or critical.
  package var thermalEvents: Int
  /// Serious or critical.
  package var hotNanoseconds: Int64
  /// From arrival to sink.
  package var latencyMedian: Int64
  package var latencyP99: Int64

  init(_ trial: HeatTrial, _ phone: HeatPhone) throws {
    let run = try trial.run(on: phone.profile)
    let heat = run.heat ?? HeatCounts()
    let latencies = run.latencies.sorted()
    // A run that ended when it was hot ended then.
    let seconds = max(1, Int(heat.nanoseconds.values.reduce(0, +) / 1_000_000_000))
    self.init(
      trial: trial.name, phone: phone.rawValue, captured: run.captured, delivered: run.delivered,
      copiedBytesPerSecond: heat.copiedBytes / seconds,
      milliwattsMean: heat.millijoules / seconds,
      seriousAt: [run.firstOf[.serious], run.firstOf[.critical]].compactMap(\.self).min(),
      criticalAt: run.firstOf[.critical], hottestMillidegrees: heat.hottestMillidegrees,
      thermalEvents: heat.thermalEvents, hotNanoseconds: heat[.serious] + heat[.critical],
      latencyMedian: Self.quantile(latencies, percent: 50),
      latencyP99: Self.quantile(latencies, percent: 99))
  }

  private init(
    trial: String, phone: String, captured: Int, delivered: Int, copiedBytesPerSecond: Int,
    milliwattsMean: Int, seriousAt: Int64?, criticalAt: Int64?, hottestMillidegrees: Int,
    thermalEvents: Int, hotNanoseconds: Int64, latencyMedian: Int64, latencyP99: Int64
  ) {
    self.trial = trial
    self.phone = phone
    self.captured = captured
    self.delivered = delivered
    self.copiedBytesPerSecond = copiedBytesPerSecond
    self.milliwattsMean = milliwattsMean
    self.seriousAt = seriousAt
    self.criticalAt = criticalAt
    self.hottestMillidegrees = hottestMillidegrees
    self.thermalEvents = thermalEvents
    self.hotNanoseconds = hotNanoseconds
    self.latencyMedian = latencyMedian
    self.latencyP99 = latencyP99
  }

  /// By nearest rank.
  private static func quantile(_ sorted: [Int64], percent: Int) -> Int64 {
    guard !sorted.isEmpty else { return 0 }
    return sorted[max(0, (sorted.count * percent + 99) / 100 - 1)]
  }
}
