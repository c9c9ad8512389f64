/// A table for people, with words aligned left and numbers aligned right.
struct TextTable {
  var headings: [String]
  var rows: [[String]]
  /// Columns that hold words.
  var wordColumns: Set<Int>

  /// The headings come first. No line ends with a space.
  var lines: [String] {
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
  static func megabytes(_ bytes: Int) -> String {
    PoolTable.decimal((bytes + 50_000) / 100_000, places: 1)
  }

  static func milliseconds(_ nanoseconds: Int64) -> String {
    PoolTable.decimal(tenthsOfMilliseconds(nanoseconds), places: 1)
  }

  static func tenthsOfMilliseconds(_ nanoseconds: Int64) -> Int {
    Int((nanoseconds + 50_000) / 100_000)
  }
}
