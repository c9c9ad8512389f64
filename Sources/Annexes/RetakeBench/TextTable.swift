import RetakeCore

/// A table for people, with words aligned left and numbers aligned right.
package struct TextTable {
  var headings: [String]
  var rows: [[String]]
  /// Columns of words.
  var wordColumns: Set<Int>

  package init(headings: [String], rows: [[String]], wordColumns: Set<Int>) {
    (self.headings, self.rows, self.wordColumns) = (headings, rows, wordColumns)
  }

  /// The headings come first. No line ends with a space.
  package var lines: [String] {
    let cells = [headings] + rows
    let widths = headings.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
    return cells.map { line($0, widths) }
  }

  private func line(_ cells: [String], _ widths: [Int]) -> String {
    let parts = cells.indices.map { column in
      let gap = String(repeating: " ", count: widths[column] - cells[column].count)
      return wordColumns.contains(column) ? cells[column] + gap : gap + cells[column]
    }
    let text = parts.joined(separator: "  ")
    return String(text.reversed().drop { $0 == " " }.reversed())
  }
}

/// Numbers in tables, with one decimal place.
extension TextTable {
  /// Millions of bytes.
  package static func megabytes(_ bytes: Int) -> String {
    FixedPoint.padded((bytes + 50_000) / 100_000, digits: 1)
  }

  package static func milliseconds(_ nanoseconds: Int64) -> String {
    FixedPoint.milliseconds(nanoseconds, digits: 1)
  }

  package static func tenthsOfMilliseconds(_ nanoseconds: Int64) -> Int {
    Int((nanoseconds + 50_000) / 100_000)
  }
}
