import RetakeCore
import RetakeRuntime
import RetakeTimePlane

/// The results of one trial on one phone. They are integers, so that they are the same on every
/// machine. Times are in nanoseconds.
package struct HeatFigures: Hashable, Sendable, Codable {
  package var trial: String
  package var phone: String
  /// Frames that the camera gave, and that reached the primary sink.
  package var captured: Int
  package var delivered: Int
  package var copiedBytesPerSecond: Int
  package var milliwattsMean: Int
  /// When it was first serious or critical; `nil` if it never was.
  package var seriousAt: Int64?
  package var criticalAt: Int64?
  package var hottestMillidegrees: Int
  /// How often it got hotter and was then serious or critical.
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

/// The figures of all trials on all phones.
package struct HeatTable: Sendable, Encodable {
  package var rows: [HeatFigures]

  init(rows: [HeatFigures]) { self.rows = rows }

  /// - Parameter isInterrupted: Checked between trials.
  package init(
    _ trials: [HeatTrial] = HeatTrial.standard, isInterrupted: () -> Bool = { false }
  ) throws {
    rows = []
    for trial in trials {
      for phone in trial.makesCopies ? HeatPhone.allCases : [.derived] {
        if isInterrupted() { throw RuntimeError.interrupted }
        var figures = try HeatFigures(trial, phone)
        if !trial.makesCopies { figures.phone = "both" }
        rows.append(figures)
      }
    }
  }

  /// The figures of a trial on a phone.
  package func row(_ trial: String, _ phone: HeatPhone = .derived) -> HeatFigures? {
    rows.first { $0.trial == trial && ($0.phone == phone.rawValue || $0.phone == "both") }
  }

  /// A table for people.
  package var text: String {
    TextTable(
      headings: [
        "trial", "phone", "MB/s", "W", "serious", "critical", "hottest", "events", "hot s",
        "frames", "p50 ms", "p99 ms",
      ],
      rows: rows.map { row in
        [
          row.trial, row.phone, TextTable.megabytes(row.copiedBytesPerSecond),
          PoolTable.decimal((row.milliwattsMean + 5) / 10, places: 2), Self.seconds(row.seriousAt),
          Self.seconds(row.criticalAt), Self.decimal((row.hottestMillidegrees + 50) / 100),
          "\(row.thermalEvents)", Self.seconds(row.hotNanoseconds), "\(row.delivered)",
          TextTable.milliseconds(row.latencyMedian), TextTable.milliseconds(row.latencyP99),
        ]
      }, wordColumns: [0, 1]
    ).lines.joined(separator: "\n")
  }

  /// One decimal place, of a number of tenths.
  package static func decimal(_ tenths: Int) -> String { PoolTable.decimal(tenths, places: 1) }

  package static func seconds(_ nanoseconds: Int64?) -> String {
    nanoseconds.map { decimal(Int(($0 + 50_000_000) / 100_000_000)) } ?? "-"
  }
}
