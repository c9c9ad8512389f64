import RetakeCore

/// How the measures of cases developed over published runs, nearest to their tolerance first.
package struct Trend: Hashable, Sendable, Encodable {
  package struct Point: Hashable, Sendable, Encodable {
    /// Wall-clock time of the run as an ISO 8601 string.
    package var at: String
    package var branch: String
    package var commit: String?
    package var value: Double
    /// The tolerance or the budget; `nil` for a metric without one.
    package var allowed: Double?
    /// The part of the tolerance that the error used: 1 is all of it. JSON leaves out numbers that it
    /// does not have, such as this part of an error where 0 is allowed.
    package var eaten: Double?

    private enum CodingKeys: CodingKey {
      case at, branch, commit, value, allowed, eaten
    }

    package func encode(to encoder: any Encoder) throws {
      var keyed = encoder.container(keyedBy: CodingKeys.self)
      try keyed.encode(at, forKey: .at)
      try keyed.encode(branch, forKey: .branch)
      try keyed.encodeIfPresent(commit, forKey: .commit)
      let numbers: [(Double?, CodingKeys)] = [
        (value, .value), (allowed, .allowed), (eaten, .eaten),
      ]
      for (number, key) in numbers {
        try keyed.encodeIfPresent(number.flatMap { $0.isFinite ? $0 : nil }, forKey: key)
      }
    }
  }

  package struct Row: Hashable, Sendable, Encodable {
    /// `SESSION/CASE`.
    package var title: String
    package var measure: String
    package var unit: String?
    /// In the order of the runs, the newest last.
    package var points: [Point]
  }

  package var rows: [Row]

  /// - Parameters:
  ///   - runs: Oldest first.
  ///   - isSelected: Whether the case with this title is part of the trend.
  package init(_ runs: [PublishedRun], isSelected: (String) -> Bool) {
    var rows: [Row] = []
    var places: [String: Int] = [:]
    for run in runs {
      for measure in run.measures where isSelected(measure.title) {
        let key = "\(measure.title)\u{0}\(measure.name)"
        let place = places[key] ?? rows.count
        if place == rows.count {
          places[key] = place
          rows.append(
            Row(title: measure.title, measure: measure.name, unit: measure.unit, points: []))
        }
        rows[place].points.append(
          Point(
            at: run.at, branch: run.branch, commit: run.commit, value: measure.value,
            allowed: measure.allowed, eaten: measure.eaten))
      }
    }
    // An error that is not allowed and has never occurred needs no line.
    self.rows = rows.filter { row in
      row.points.contains { $0.eaten != 0 || $0.value != 0 }
    }.sorted { left, right in
      if left.eaten != right.eaten { return left.eaten > right.eaten }
      return (left.title, left.measure) < (right.title, right.measure)
    }
  }

  /// A table for a terminal: a line for each measure, with a newline at the end.
  package var text: String {
    let head = ["case", "measure", "runs", "last", "tolerance eaten"]
    let lines = [head] + rows.map(\.cells)
    let widths = head.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
    return lines.map { cells in
      let line = zip(cells, widths).map { $0.padded(to: $1) }.joined(separator: "  ")
      return String(line.trimmingSuffix { $0 == " " }) + "\n"
    }.joined()
  }
}

extension Trend.Row {
  /// Of the newest run; -1 without a tolerance, which comes after all others.
  fileprivate var eaten: Double {
    guard let last = points.last?.eaten else { return -1 }
    return last.isNaN ? .infinity : last
  }

  fileprivate var cells: [String] {
    let last = points.last.map { Wording.number($0.value) + (unit.map { " \($0)" } ?? "") } ?? ""
    let parts = points.map { $0.eaten.map(Self.percent) }
    let eaten = parts.last.flatMap(\.self) ?? "–"
    let before = parts.first.flatMap(\.self).flatMap { $0 == eaten ? nil : " (was \($0))" } ?? ""
    return [
      title.visible(limit: 60), measure.visible(limit: 60), sparkline, last.visible(limit: 40),
      eaten + before,
    ]
  }

  private static func percent(_ eaten: Double) -> String {
    eaten.isFinite ? "\(Wording.number(eaten * 100, places: 0)) %" : "over"
  }

  /// A block for each run: of eight heights up to the tolerance, or without one, from the least to
  /// the largest value. `!` is an error above its tolerance.
  private var sparkline: String {
    let values = points.map(\.value).filter(\.isFinite)
    let (least, most) = (values.min() ?? 0, values.max() ?? 0)
    return String(
      points.map { point in
        let share = point.eaten ?? (most > least ? (point.value - least) / (most - least) : 0.5)
        guard share <= 1 else { return "!" }
        return Array("▁▂▃▄▅▆▇█")[Int((max(0, share) * 7).rounded())]
      })
  }
}

extension String {
  fileprivate func trimmingSuffix(while isTrimmed: (Character) -> Bool) -> Substring {
    var text = self[...]
    while let last = text.last, isTrimmed(last) { text.removeLast() }
    return text
  }
}
