import Foundation
import RetakeCompare
import RetakeCore

/// Writes digests-PLATFORM.gold: for each frame the first digits of every stage's digest.
final class StageDigestWriter {
  private let file: OutputFile
  private let columns: Int
  private let writesTrack: Bool

  init(
    _ url: URL, key: String, columns: [StageColumn], writesTrack: Bool
  ) throws(GoldenError) {
    self.columns = columns.count
    self.writesTrack = writesTrack
    file = try OutputFile(url)
    let names = (["packet"] + columns.map(\.description)).joined(separator: ",")
    try file.append(FileHeader(key: key, field: names).text("columns").utf8)
  }

  func append(_ row: StageRow) throws(GoldenError) {
    precondition(row.cells.count == columns, "a row has a cell for each column")
    var text = writesTrack ? "\(row.frame)" : String(row.frame.sequence)
    for cell in [row.packet] + row.cells {
      text += " "
      text += cell.text
    }
    text += "\n"
    try file.append(text.utf8)
  }

  func finish() throws(GoldenError) { try file.close() }
}

/// Reads a digests file line by line.
final class StageDigestReader {
  let header: FileHeader
  let columns: [StageColumn]
  private let reader: LineReader
  private let track: Int

  /// - Parameter track: Of lines that name none.
  init(_ url: URL, track: Int) throws(GoldenError) {
    self.track = track
    reader = try LineReader(url)
    header = try FileHeader(reader, field: "columns")
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

  func next() throws(GoldenError) -> StageRow? {
    guard let line = try reader.next() else { return nil }
    let words = String(decoding: line, as: UTF8.self)
      .split(separator: " ", omittingEmptySubsequences: false)
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
