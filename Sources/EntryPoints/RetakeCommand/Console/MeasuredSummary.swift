import Retake

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
    let table = [head] + rows + [Self.row("a whole frame", stageTimes.frames)]
    let widths = head.indices.map { column in table.map { $0[column].count }.max() ?? 0 }
    let lines = table.map { cells in
      let numbers = zip(cells, widths).dropFirst().map { cell, width in
        String(repeating: " ", count: width - cell.count) + cell
      }
      let name = cells[0] + String(repeating: " ", count: widths[0] - cells[0].count)
      return "  " + ([name] + numbers).joined(separator: "  ")
    }
    return ([SummaryText.of(summary)] + lines).joined(separator: "\n")
  }

  private static func row(_ name: String, _ times: StageTimes.Times) -> [String] {
    let numbers = [
      times.meanNanoseconds, times.p50Nanoseconds, times.p99Nanoseconds, times.maxNanoseconds,
    ]
    return [name, "\(times.count)"] + numbers.map(milliseconds)
  }

  /// `16.728`: rounded to the nearest microsecond.
  private static func milliseconds(_ nanoseconds: Int64) -> String {
    let (whole, rest) = ((nanoseconds + 500) / 1_000).quotientAndRemainder(dividingBy: 1_000)
    return "\(whole)." + String("\(1_000 + rest)".dropFirst())
  }
}
