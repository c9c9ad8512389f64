import Retake
import RetakeBench

/// A sweep as a table for people: one line per combination, with exact numbers.
enum SweepTable {
  static func text(of report: SweepReport) -> String {
    let columns = self.columns(of: report)
    return TextTable(
      headings: columns.map(\.title),
      rows: report.rows.indices.map { row in columns.map { $0.cells[row] } }, wordColumns: []
    ).lines.joined(separator: "\n")
  }

  private struct Column {
    var title: String
    var cells: [String]
  }

  private static func columns(of report: SweepReport) -> [Column] {
    func column(_ title: String, _ cell: (RunFigures.Totals) -> String) -> Column {
      Column(title: title, cells: report.rows.map { cell($0.figures) })
    }
    func count(_ title: String, _ value: (FrameLedger) -> Int) -> Column {
      column(title) { "\(value($0.frames))" }
    }
    let axes = report.axes.enumerated().map { index, axis in
      Column(title: axis.name, cells: report.rows.map { $0.values[index] })
    }
    // Sorted, because the order of a Set differs from process to process.
    let reasons = Set(report.rows.flatMap { $0.figures.frames.dropped.keys }).sorted()
    let drops = reasons.map { reason in count("drop \(reason)") { $0.dropped[reason] ?? 0 } }
    // Columns that contain only zeros are left out.
    let others = [
      count("throttled", \.throttled), count("replaced", \.replaced), count("failed", \.failed),
      count("in flight", \.inFlight),
    ].filter { column in column.cells.contains { $0 != "0" } }
    return axes + [count("captured", \.captured), count("delivered", \.delivered)] + drops + others
      + [
        column("lost") { "\($0.lostBeforeCapture)" },
        column("p50 ms") { latency($0, \.p50Nanoseconds) },
        column("p95 ms") { latency($0, \.p95Nanoseconds) },
        column("p99 ms") { latency($0, \.p99Nanoseconds) },
        column("stalls") { "\($0.stalls)" },
        column("blocked ms") { millionths($0.blockedNanoseconds) },
        column("alive") { "\($0.framesAliveMax)" },
        column("MB") { millionths(Int64($0.bytesAliveMax)) },
      ] + numbers(of: report)
  }

  /// Three columns for each number that reached a sink in any row.
  private static func numbers(of report: SweepReport) -> [Column] {
    func title(_ number: SweepReport.Number) -> String { "\(number.sink).\(number.name)" }
    let titles = Set(report.rows.flatMap { ($0.numbers ?? []).map(title) }).sorted()
    return titles.flatMap { name in
      let numbers = report.rows.map { row in row.numbers?.first { title($0) == name } }
      func column(_ suffix: String, _ part: (SweepReport.Number) -> Double?) -> Column {
        Column(title: name + suffix, cells: numbers.map { thousandths($0.flatMap(part)) })
      }
      return [
        column("", \.mean), column(" error", \.meanError),
        column(" largest error", \.largestError),
      ]
    }
  }

  private static func thousandths(_ value: Double?) -> String {
    guard let value else { return "-" }
    // A larger number does not fit into the integer.
    guard abs(value) < 1e12 else { return "\(value)" }
    return millionths(Int64((value * 1_000).rounded()) * 1_000)
  }

  private static func latency(
    _ figures: RunFigures.Totals, _ part: (RunFigures.Latency) -> Int64
  ) -> String {
    figures.latency.map { millionths(part($0)) } ?? "-"
  }

  /// A millionth of a value, without rounding: nanoseconds as milliseconds, bytes as megabytes.
  static func millionths(_ value: Int64) -> String {
    FixedPoint.text(Int(value), digits: 6)
  }
}
