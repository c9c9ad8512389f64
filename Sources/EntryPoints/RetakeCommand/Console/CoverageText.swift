import Retake
import RetakeBench

/// The coverage of decisions as tables for people, one for each pipeline.
enum CoverageText {
  static func of(_ report: CoverageReport) -> String {
    (report.pipelines.map(table) + [end(of: report)]).joined(separator: "\n\n")
  }

  private static func table(_ part: CoverageReport.Pipeline) -> String {
    var lines = ["\(part.pipeline): \(part.cases.joined(separator: ", "))"]
    if !part.rows.isEmpty {
      lines += TextTable(
        headings: ["node", "decision", "count", "first"],
        rows: part.rows.map { [$0.node, $0.decision, "\($0.count)", place($0.first)] },
        wordColumns: [0, 1, 3]
      ).lines.map { "  " + $0 }
    }
    if !part.simulated {
      lines.append("  no case has the mode simulate: queues, pools and timeouts decide nothing")
    }
    return lines.joined(separator: "\n")
  }

  private static func place(_ first: CoverageReport.Place?) -> String {
    guard let first else { return "never" }
    let place = first.frame ?? "at \(FixedPoint.milliseconds(first.nanoseconds ?? 0, digits: 3)) ms"
    return "\(first.key) \(place)"
  }

  private static func end(of report: CoverageReport) -> String {
    let count = report.pipelines.reduce(0) { $0 + $1.rows.count }
    let never = report.never
    let lines = never.map { "never exercised: \($1.decision) at '\($1.node)' of \($0)" }
    return (lines + ["\(counted(count, "decision")), \(never.count) never exercised"])
      .joined(separator: "\n")
  }
}
