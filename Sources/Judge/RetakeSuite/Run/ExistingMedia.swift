import Foundation
import RetakeCore

/// Whether a file that exists is someone's footage, which no output may replace.
enum ExistingMedia {
  /// The bytes at each end of a file in which an overlay's mark is searched for.
  private static let searchedBytes = 1 << 18
  /// The first bytes of video files, and where they begin.
  private static let signatures: [(offset: Int, bytes: [UInt8])] = [
    (4, Array("ftyp".utf8)),  // MP4, QuickTime
    (4, Array("moov".utf8)), (4, Array("mdat".utf8)), (4, Array("wide".utf8)),  // older QuickTime
    (0, [0x1A, 0x45, 0xDF, 0xA3]),  // Matroska, WebM
    (0, Array("RIFF".utf8)),  // AVI
    (0, Array("nut/multimedia".utf8)),
    (0, Array("OggS".utf8)),
    (0, Array("YUV4MPEG2".utf8)),
    (0, Array("DKIF".utf8)),  // IVF
    (0, Array("FLV".utf8)),
    (0, Array("GIF8".utf8)),
    (0, [0x00, 0x00, 0x01, 0xBA]),  // MPEG program stream
    (0, [0x06, 0x0E, 0x2B, 0x34]),  // MXF
    (0, [0x30, 0x26, 0xB2, 0x75]),  // ASF
  ]

  /// - Parameter path: A path without links; a file that does not exist is not anyone's.
  static func isOfOthers(_ path: String) -> Bool {
    // Not a pipe: reading from it would consume bytes that another reader waits for.
    guard let file = try? RegularFile.handle(path) else { return false }
    defer { try? file.close() }
    guard let head = try? file.read(upToCount: searchedBytes), isMedia(head) else { return false }
    let mark = Data(OverlayVideo.mark.utf8)
    guard head.range(of: mark) == nil else { return false }
    guard let end = try? file.seekToEnd(), end > UInt64(searchedBytes),
      (try? file.seek(toOffset: end - UInt64(searchedBytes))) != nil,
      let tail = try? file.readToEnd()
    else { return true }
    return tail.range(of: mark) == nil
  }

  private static func isMedia(_ head: Data) -> Bool {
    // An MPEG transport stream: packets of 188 bytes, each of which begins with 0x47.
    if head.count > 376, head[0] == 0x47, head[188] == 0x47, head[376] == 0x47 { return true }
    return signatures.contains { head.dropFirst($0.offset).starts(with: $0.bytes) }
  }
}
