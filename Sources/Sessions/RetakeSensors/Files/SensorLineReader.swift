import Foundation
import RetakeCore

/// Reads a text file line by line, of any length, with a bounded amount of memory.
struct SensorLineReader {
  private let file: String
  private let handle: FileHandle
  /// Bytes that were read and not yet given out.
  private var bytes: [UInt8] = []
  private var start = 0
  private var isEnd = false
  /// The number of the last line, from 1.
  private(set) var number = 0

  /// A line with more is not one of a table.
  static let lineBytesMax = 1 << 20
  private static let pieceBytes = 1 << 18

  init(_ file: String) throws {
    self.file = file
    guard LargeFilePointer(file: file) == nil else {
      throw SensorError.unreadable(
        file: file, cause: "it is a pointer of Git LFS, without the file itself: git lfs pull")
    }
    do {
      handle = try RegularFile.handle(file, links: .followed)
    } catch let error as RegularFile.Refusal {
      throw error == .missing
        ? SensorError.missing(file: file) : .unreadable(file: file, cause: error.description)
    }
  }

  /// The next line without its end (LF or CRLF); nil at the end of the file.
  mutating func next() throws -> [UInt8]? {
    var searched = start
    while true {
      if let end = bytes[searched...].firstIndex(of: 0x0A) { return take(to: end, skipping: 1) }
      searched = bytes.count
      guard bytes.count - start <= Self.lineBytesMax else {
        throw SensorError.longLine(file: file, line: number + 1, bytesMax: Self.lineBytesMax)
      }
      guard !isEnd else {
        return start < bytes.count ? take(to: bytes.count, skipping: 0) : nil
      }
      try fill(&searched)
    }
  }

  private mutating func take(to end: Int, skipping count: Int) -> [UInt8] {
    var line = bytes[start..<end]
    if line.last == 0x0D { line = line.dropLast() }
    // A byte order mark is no part of the first name.
    if number == 0, line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
    start = end + count
    number += 1
    return Array(line)
  }

  private mutating func fill(_ searched: inout Int) throws {
    // Lines that were already returned are removed here, once for many lines.
    bytes.removeFirst(start)
    searched -= start
    start = 0
    let piece: Data?
    do {
      piece = try handle.read(upToCount: Self.pieceBytes)
    } catch {
      throw SensorError.unreadable(file: file, cause: error.systemText)
    }
    if let piece, !piece.isEmpty { bytes += piece } else { isEnd = true }
    if number == 0, Self.wideMarks.contains(where: bytes.starts) { try readWide() }
  }

  /// The byte order marks of UTF-16, which programs of Windows write.
  private static let wideMarks: [[UInt8]] = [[0xFF, 0xFE], [0xFE, 0xFF]]
  /// A file of UTF-16 is converted as a whole.
  private static let wideBytesMax = 64 << 20

  private mutating func readWide() throws {
    // Ends: the file ends, or is too large.
    while !isEnd {
      guard bytes.count <= Self.wideBytesMax else {
        throw SensorError.unreadable(
          file: file,
          cause: "it is UTF-16 of more than \(Self.wideBytesMax >> 20) MiB; convert it to UTF-8")
      }
      let piece = try? handle.read(upToCount: Self.pieceBytes)
      if let piece, !piece.isEmpty { bytes += piece } else { isEnd = true }
    }
    guard let text = String(data: Data(bytes), encoding: .utf16) else {
      throw SensorError.unreadable(file: file, cause: "its UTF-16 text is damaged")
    }
    bytes = Array(text.utf8)
  }
}
