import Retake
import RetakeBench

/// The summary of a run, with the times of its stages if it measured them.
struct MeasuredSummary: Encodable {
  private enum CodingKeys: String, CodingKey { case stageTimes }

  var summary: RunSummary
  var stageTimes: StageTimes.Totals?

  /// The keys of `run.json`, and `stageTimes`.
  func encode(to encoder: any Encoder) throws {
    try summary.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodeIfPresent(stageTimes, forKey: .stageTimes)
  }

  /// For people: a few lines, then a table with a line for each stage and a line for complete
  /// frames.
  var text: String {
    guard let stageTimes else { return SummaryText.of(summary) }
    let head = ["stage", "calls", "mean ms", "p50 ms", "p99 ms", "max ms"]
    let rows = stageTimes.stages.map { Self.row(visible($0.node), $0.times) }
    let table = TextTable(
      headings: head, rows: rows + [Self.row("a whole frame", stageTimes.frames)],
      wordColumns: [0])
    return ([SummaryText.of(summary)] + table.lines.map { "  " + $0 }).joined(separator: "\n")
  }

  private static func row(_ name: String, _ times: StageTimes.Times) -> [String] {
    let numbers = [
      times.meanNanoseconds, times.p50Nanoseconds, times.p99Nanoseconds, times.maxNanoseconds,
    ]
    return [name, "\(times.count)"] + numbers.map { FixedPoint.milliseconds($0, digits: 3) }
  }
}
