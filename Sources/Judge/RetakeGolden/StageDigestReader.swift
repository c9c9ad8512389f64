package import Foundation
package import RetakeCompare
import RetakeCore

/// Reads a digests file line by line.
package final class StageDigestReader {
  let header: FileHeader
  let columns: [StageColumn]
  /// The number of rows that were read.
  private(set) var rows = 0
  private let reader: TextLineReader
  private let track: Int
  private let url: URL
  private var block = StageBlock()
  /// The sequence of the last row of each track.
  private var sequences: [Int: Int] = [:]

  /// - Parameter track: The track of lines that do not name one.
  package init(_ url: URL, track: Int) throws {
    self.track = track
    self.url = url
    reader = try TextLineReader(url)
    header = try FileHeader(reader, field: "columns", newest: StageDigestWriter.version)
    block.begin(header.text("columns"))
    let names = Self.columns(of: header.field)
    let columns = names.dropFirst().compactMap { StageColumn(parsing: $0) }
    guard names.first == "packet", columns.count == names.count - 1,
      Set(columns.map(\.node)).count == columns.count, Self.isTopological(columns)
    else {
      throw reader.damaged(
        Data(header.field.utf8), "packet, then the nodes in topological order with their inputs")
    }
    self.columns = columns
  }

  private static func isTopological(_ columns: [StageColumn]) -> Bool {
    // The search for the first stage that differs goes from left to right, and relies on this.
    var known: Set<String> = []
    for column in columns {
      guard column.inputs.allSatisfy(known.contains) else { return false }
      known.insert(column.node)
    }
    return true
  }

  /// Splits at the commas outside parentheses.
  private static func columns(of list: String) -> [String] {
    var names = [""]
    var depth = 0
    for character in list {
      if character == "(" { depth += 1 }
      if character == ")" { depth -= 1 }
      if character == "," && depth == 0 {
        names.append("")
      } else {
        names[names.count - 1].append(character)
      }
    }
    return names
  }

  /// The next row; `nil` at the end of a complete file.
  ///
  /// - Throws: `GoldenError.line` for a line that is not a row; `inconsistent` for rows that are
  ///   missing, duplicated, in another order or changed.
  package func next() throws -> StageRow? {
    while let line = try reader.next() {
      let text = String(decoding: line, as: UTF8.self)
      if header.version > 1, text.hasPrefix("B ") {
        // Compared as text, so that the number of rows is checked as well.
        guard block.end() == text + "\n" else { throw changed }
        continue
      }
      let row = try row(text, line)
      // A file of version 1 has no other protection against missing or reordered rows.
      guard sequences[row.frame.track].map({ $0 < row.frame.sequence }) ?? true else {
        throw changed
      }
      sequences[row.frame.track] = row.frame.sequence
      if header.version > 1 { block.append(text + "\n") }
      rows += 1
      return row
    }
    // Rows without a checksum after them: the file was cut off.
    guard header.version == 1 || block.rows == 0 else { throw changed }
    return nil
  }

  private var changed: GoldenError {
    .inconsistent(
      file: url.path,
      detail: "rows before line \(reader.number + 1) are not as they were written: changed, "
        + "missing, doubled or in another order")
  }

  /// Reads the remaining rows and checks that there is one row for each frame of the golden.
  func finish(frames: Int) throws {
    // Ends: the file ends. The rest is read for its checksums.
    while try next() != nil {}
    guard rows == frames else {
      throw GoldenError.inconsistent(
        file: url.path,
        detail: "it has \(counted(rows, "row")), and the golden has "
          + "\(counted(frames, "frame"))")
    }
  }

  /// Whether two files have the same content, even if one of them has an older version.
  static func areSame(_ left: URL, _ right: URL) throws -> Bool {
    let (mine, theirs) = (
      try StageDigestReader(left, track: 0), try StageDigestReader(right, track: 0)
    )
    guard mine.columns == theirs.columns, mine.header.key == theirs.header.key else { return false }
    while true {
      // Row by row and not by bytes: version 2 has checksum lines that version 1 does not have.
      let (row, other) = (try mine.next(), try theirs.next())
      guard row == other else { return false }
      if row == nil { return true }
    }
  }

  private func row(_ text: String, _ line: Data) throws -> StageRow {
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    let cells = words.dropFirst().compactMap { StageCell(parsing: $0) }
    guard cells.count == columns.count + 1, words.count == columns.count + 2,
      let frame = frame(words[0])
    else {
      throw reader.damaged(line, "a frame and \(columns.count + 1) cells of 8 digits, '-' or '!'")
    }
    return StageRow(frame: frame, packet: cells[0], cells: Array(cells.dropFirst()))
  }

  private func frame(_ word: Substring) -> FrameID? {
    let parts = word.split(separator: ":", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { Int($0) }
    guard numbers.count == parts.count else { return nil }
    switch numbers.count {
    case 1: return FrameID(track: track, sequence: numbers[0])
    case 2: return FrameID(track: numbers[0], sequence: numbers[1])
    default: return nil
    }
  }
}
