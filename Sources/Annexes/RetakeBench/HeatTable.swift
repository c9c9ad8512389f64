import RetakeCore
import RetakeRuntime

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
          FixedPoint.padded((row.milliwattsMean + 5) / 10, digits: 2), Self.seconds(row.seriousAt),
          Self.seconds(row.criticalAt),
          FixedPoint.padded((row.hottestMillidegrees + 50) / 100, digits: 1),
          "\(row.thermalEvents)", Self.seconds(row.hotNanoseconds), "\(row.delivered)",
          TextTable.milliseconds(row.latencyMedian), TextTable.milliseconds(row.latencyP99),
        ]
      }, wordColumns: [0, 1]
    ).lines.joined(separator: "\n")
  }

  package static func seconds(_ nanoseconds: Int64?) -> String {
    nanoseconds.map { FixedPoint.seconds($0, digits: 1) } ?? "-"
  }
}
