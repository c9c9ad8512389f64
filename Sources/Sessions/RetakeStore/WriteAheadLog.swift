import Foundation
import RetakeCore

/// Checks SQLite's write-ahead log. SQLite itself reads it up to the first bad frame, and ignores
/// the rest without an error.
///
/// The format: <https://www.sqlite.org/fileformat2.html#the_write_ahead_log>.
package enum WriteAheadLog {
  /// The damage of a log.
  package struct Damage: Hashable, Sendable {
    /// The log ends within a frame, which may also be the result of a crash.
    package var isCut: Bool
    package var text: String
  }

  private static let headerBytes = 32
  private static let frameHeaderBytes = 24

  /// nil when the log is intact, empty or missing.
  package static func damage(ofDatabase path: String) -> Damage? {
    guard let file = try? RegularFile.handle(path + "-wal") else { return nil }
    defer { try? file.close() }
    let header = bytes(file, headerBytes)
    // A log of no bytes is intact: a checkpoint with TRUNCATE leaves such a log.
    guard !header.isEmpty else { return nil }
    guard header.count == headerBytes else {
      return Damage(isCut: true, text: "the database's log is cut")
    }
    guard let start = Header(header) else {
      return Damage(
        isCut: false, text: "the write-ahead log's header is damaged: no commit in it counts")
    }
    return damage(in: file, start)
  }

  private static func damage(in file: FileHandle, _ header: Header) -> Damage? {
    // Each frame's checksum continues the checksum of the frame before, and the first continues the
    // header's (Database File Format, 4.2). So one damaged byte makes every later frame invalid,
    // and the walk stops there.
    var sum = header.sum
    var number = 0
    let size = frameHeaderBytes + header.pageBytes
    // Ends: each round reads one frame of a finite file.
    while true {
      let frame = bytes(file, size)
      guard !frame.isEmpty else { return nil }
      number += 1
      guard frame.count == size else {
        return Damage(isCut: true, text: "the database's log is cut")
      }
      let salts = (frame.word(8), frame.word(12))
      // A frame from before the last reset of the log has different salts, both of them.
      if salts.0 != header.salts.0, salts.1 != header.salts.1 { return nil }
      // Of a frame's header only the first 8 bytes are in the sum. The salts
      // are not, and are compared below.
      sum.add(frame[..<8], isBig: header.isBig)
      sum.add(frame[frameHeaderBytes...], isBig: header.isBig)
      guard salts == header.salts, sum.first == frame.word(16), sum.second == frame.word(20) else {
        return Damage(
          isCut: false,
          text: "the write-ahead log is damaged at its frame \(number): "
            + "no commit from there on counts")
      }
    }
  }

  private static func bytes(_ file: FileHandle, _ count: Int) -> [UInt8] {
    guard let data = try? file.read(upToCount: count) else { return [] }
    return [UInt8](data)
  }

  private struct Header {
    var isBig: Bool
    var pageBytes: Int
    var salts: (UInt32, UInt32)
    var sum: Sum

    /// nil when the header is damaged.
    init?(_ bytes: [UInt8]) {
      // The last bit says whether the words of the checksum are big-endian.
      // All fields are, in either case.
      let magic = bytes.word(0)
      guard magic == 0x377F_0682 || magic == 0x377F_0683 else { return nil }
      isBig = magic & 1 == 1
      pageBytes = Int(bytes.word(8))
      salts = (bytes.word(16), bytes.word(20))
      sum = Sum()
      sum.add(bytes[..<24], isBig: isBig)
      // A forged header has a correct sum, too. Its page size decides how many
      // bytes are read at once, so it is bounded as in the format.
      guard sum.first == bytes.word(24), sum.second == bytes.word(28),
        (512...65_536).contains(pageBytes)
      else { return nil }
    }
  }

  /// SQLite's running checksum.
  private struct Sum {
    var first: UInt32 = 0
    var second: UInt32 = 0

    mutating func add(_ bytes: ArraySlice<UInt8>, isBig: Bool) {
      // The sum consumes pairs of 32-bit words. 24, 8 and every page size are multiples of 8, so no
      // byte remains.
      for place in stride(from: bytes.startIndex, to: bytes.endIndex - 7, by: 8) {
        first = first &+ word(bytes, place, isBig) &+ second
        second = second &+ word(bytes, place + 4, isBig) &+ first
      }
    }

    private func word(_ bytes: ArraySlice<UInt8>, _ place: Int, _ isBig: Bool) -> UInt32 {
      var value: UInt32 = 0
      for offset in 0..<4 {
        let shift = UInt32(8 * (isBig ? 3 - offset : offset))
        value |= UInt32(bytes[place + offset]) << shift
      }
      return value
    }
  }
}

extension [UInt8] {
  /// Four bytes, most significant first.
  fileprivate func word(_ place: Int) -> UInt32 {
    self[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }
}
