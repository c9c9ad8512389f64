import RetakeCore
import RetakeRuntime

/// The figures of all trials.
package struct PreviewTable: Sendable {
  package var rows: [PreviewFigures]

  /// - Parameter isInterrupted: Checked between trials.
  package init(_ trials: [PreviewTrial], isInterrupted: () -> Bool = { false }) throws {
    rows = []
    for trial in trials {
      if isInterrupted() { throw RuntimeError.interrupted }
      rows.append(try trial.run())
    }
  }

  /// A table for people, in columns.
  package var text: String {
    TextTable(
      headings: [
        "trial", "shown", "lost", "dropped", "throttled", "repeats", "jitter", "latency", "most",
        "age", "most", "MB", "screen",
      ],
      rows: rows.map { row in
        [
          row.trial, "\(row.shown)", "\(row.lost)", "\(row.dropped)", "\(row.throttled)",
          "\(row.repeats)", Self.text(row.jitterMax), Self.text(row.latencyMedian),
          Self.text(row.latencyMax), Self.text(row.ageMedian), Self.text(row.ageMax),
          Self.megabytes(row.cameraBytes), Self.megabytes(row.screenBytes),
        ]
      }, wordColumns: [0]
    ).lines.joined(separator: "\n")
  }

  /// Millions of bytes with one decimal place.
  package static func megabytes(_ bytes: Int) -> String {
    bytes == 0 ? "-" : TextTable.megabytes(bytes)
  }

  /// Milliseconds with one decimal place.
  private static func text(_ nanoseconds: Int64?) -> String {
    nanoseconds.map { TextTable.milliseconds($0) } ?? "-"
  }
}
