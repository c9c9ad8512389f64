import Foundation
import RetakeCompare

/// Writes digests-PLATFORM.gold: for each frame the first digits of every stage's digest, and a
/// checksum after each block of frames.
final class StageDigestWriter {
  /// Files of version 1 have no checksums.
  static let version = 2
  /// The number of rows per checksum.
  static let blockRows = 64

  private let file: OutputFile
  private var block = StageBlock()
  private var rows = 0
  private let columns: Int
  private let writesTrack: Bool

  init(
    _ url: URL, key: String, columns: [StageColumn], writesTrack: Bool
  ) throws {
    self.columns = columns.count
    self.writesTrack = writesTrack
    file = try OutputFile(url)
    let names = (["packet"] + columns.map(\.description)).joined(separator: ",")
    let header = FileHeader(version: Self.version, key: key, field: names).text("columns")
    // The checksum also covers the header, which has no other checksum.
    block.begin(header)
    try file.append(header.utf8)
  }

  func append(_ row: StageRow) throws {
    precondition(row.cells.count == columns, "a row has a cell for each column")
    var text = writesTrack ? "\(row.frame)" : String(row.frame.sequence)
    for cell in [row.packet] + row.cells {
      text += " "
      text += cell.text
    }
    text += "\n"
    try file.append(text.utf8)
    block.append(text)
    rows += 1
    if block.rows == Self.blockRows { try file.append(block.end().utf8) }
  }

  func finish() throws {
    // Without rows there is still a checksum, because the header needs one.
    if block.rows > 0 || rows == 0 { try file.append(block.end().utf8) }
    try file.close()
  }
}
