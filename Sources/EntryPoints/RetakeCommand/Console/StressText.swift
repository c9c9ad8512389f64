import Retake
import RetakeBench

/// A stress for people: the table, with a curve of the frames that changed, then the limits and the
/// commands.
enum StressText {
  private static let barMax = 12

  static func of(_ report: StressReport) -> String {
    let most = report.rows.compactMap { $0.values["changed"] }.max() ?? 0
    let table = TextTable(
      headings: ["perturbation", "strength"] + report.columns + ["first", "curve of changed"],
      rows: report.rows.map { row in
        [row.perturbation ?? "none", row.strength ?? "-"]
          + report.columns.map { row.values[$0].map(StressReport.text) ?? "-" }
          + [row.first ?? "-", row.problem ?? bar(row.values["changed"] ?? 0, of: most)]
      }, wordColumns: [0, report.columns.count + 3])
    return
      ([table.lines.joined(separator: "\n")]
      + [report.limits.map(limit).joined(separator: "\n")]
      + [report.rows.map { "\(label($0)): \($0.command)" }.joined(separator: "\n")])
      .filter { !$0.isEmpty }.joined(separator: "\n\n")
  }

  private static func label(_ row: StressReport.Row) -> String {
    row.perturbation.map { "\($0)=\(row.strength ?? "")" } ?? "none"
  }

  private static func bar(_ value: Double, of most: Double) -> String {
    guard value > 0, most > 0 else { return "" }
    return String(repeating: "#", count: max(1, Int(Double(barMax) * value / most)))
  }

  private static func limit(_ limit: StressReport.Limit) -> String {
    let name = "\(limit.perturbation) \(limit.side)"
    let first = limit.firstChange.map { "first change at \($0)" } ?? "no change in the range"
    let over = limit.overBudget.sorted { $0.key < $1.key }.map { "over \($0.key) at \($0.value)" }
    return "\(name): \(([first] + over).joined(separator: ", "))"
  }
}
