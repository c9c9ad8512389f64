package import Foundation
import RetakeCore

/// A stress as a page: a curve for each perturbation, and the table.
package enum StressPage {
  private static let width = 560
  private static let height = 200
  private static let margin = 40

  /// Writes the page, or replaces an earlier one.
  ///
  /// - Throws: `SuiteError.notWritable`.
  package static func write(_ report: StressReport, to file: URL) throws {
    do {
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(html(report).utf8).write(to: file, options: .atomic)
    } catch {
      throw SuiteError.notWritable(path: file.path, cause: error.systemText)
    }
  }

  static func html(_ report: StressReport) -> String {
    let title = MarkupText.escaped("Stress of \(report.key)")
    var names: [String] = []
    for case let name? in report.rows.map(\.perturbation) where !names.contains(name) {
      names.append(name)
    }
    // The columns with a budget, or else the frames that changed.
    let columns = report.budgets.isEmpty ? ["changed"] : report.budgets.map(\.column)
    let curves = names.flatMap { name in columns.map { curve(report, name, $0) } }
    return """
      <!doctype html>
      <html lang="en"><head><meta charset="utf-8"><title>\(title)</title>
      <style>body{font:15px sans-serif;margin:2em;color:#222}table{border-collapse:collapse}
      td,th{padding:.2em .7em;text-align:right;border-bottom:1px solid #ddd}
      svg{max-width:100%;display:block}code{font-size:12px}</style></head><body>
      <h1>\(title)</h1>
      <p>Pipeline \(MarkupText.escaped(report.pipeline)), seed \(report.seed). Each row is compared
      with the accepted golden.</p>
      \(curves.joined(separator: "\n"))
      <table><thead><tr>\(heads(report))</tr></thead><tbody>
      \(report.rows.map { row($0, report) }.joined(separator: "\n"))
      </tbody></table></body></html>

      """
  }

  private static func heads(_ report: StressReport) -> String {
    (["perturbation", "strength"] + report.columns + ["first", "command"])
      .map { "<th>\(MarkupText.escaped($0))</th>" }.joined()
  }

  private static func row(_ row: StressReport.Row, _ report: StressReport) -> String {
    let cells =
      [row.perturbation ?? "none", row.strength ?? ""]
      + report.columns.map { row.values[$0].map(StressReport.text) ?? "-" }
      + [row.problem ?? row.first ?? ""]
    return "<tr>" + cells.map { "<td>\(MarkupText.escaped($0))</td>" }.joined()
      + "<td><code>\(MarkupText.escaped(row.command))</code></td></tr>"
  }

  private static func curve(_ report: StressReport, _ name: String, _ column: String) -> String {
    let rows = report.rows.filter { $0.perturbation == name && $0.values[column] != nil }
    let values = rows.compactMap { $0.values[column] }
    let budget = report.budgets.first { $0.column == column }?.limit
    let most = max(1e-9, values.max() ?? 0, budget ?? 0)
    let (low, high) = (rows.first?.thousandths ?? 0, rows.last?.thousandths ?? 0)
    func x(_ strength: Int) -> Int {
      margin + (width - 2 * margin) * (strength - low) / max(1, high - low)
    }
    func y(_ value: Double) -> Int {
      height - margin - Int(Double(height - 2 * margin) * value / most)
    }
    let points = zip(rows, values).map { (x($0.thousandths), y($1)) }
    let line = points.map { "\($0),\($1)" }.joined(separator: " ")
    let dots = points.map { "<circle cx=\"\($0)\" cy=\"\($1)\" r=\"3\"/>" }.joined()
    let labels = zip(points, rows).map {
      "<text x=\"\($0.0)\" y=\"\(height - 20)\" text-anchor=\"middle\">"
        + "\(MarkupText.escaped($1.strength ?? ""))</text>"
    }.joined()
    let limit = budget.map {
      "<line x1=\"\(margin)\" x2=\"\(width - margin)\" y1=\"\(y($0))\" y2=\"\(y($0))\" "
        + "stroke=\"#c00\" stroke-dasharray=\"4\"/>"
    }
    return """
      <h2>\(MarkupText.escaped("\(name): \(column), 0 to \(StressReport.text(most))"))</h2>
      <svg viewBox="0 0 \(width) \(height)" width="\(width)" role="img" font-size="12">
      <line x1="\(margin)" x2="\(width - margin)" y1="\(y(0))" y2="\(y(0))" stroke="#999"/>
      \(limit ?? "")<polyline points="\(line)" fill="none" stroke="#06c" stroke-width="2"/>
      \(dots)\(labels)</svg>
      """
  }
}

extension StressReport {
  /// A count without a fraction; other numbers with up to four decimals.
  package static func text(_ value: Double) -> String {
    guard abs(value) < 1e9 else { return "\(value)" }
    let scaled = Int((abs(value) * 10_000).rounded())
    return (value < 0 && scaled > 0 ? "-" : "") + FixedPoint.text(scaled, digits: 4)
  }
}
