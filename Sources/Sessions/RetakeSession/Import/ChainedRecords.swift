import RetakeMedia

/// Containers that are a header and a chain of records with their sizes: Y4M, IVF and ASF.
///
/// FFmpeg reads the last record as far as it goes, or leaves it out, and stops at the header of a
/// file that was appended.
enum ChainedRecords {
  /// More records than a recording of a month has.
  private static let recordCountMax = 200_000_000

  /// - Parameter frameBytes: The size of each frame; nil if no frame could be read.
  static func y4m(_ file: MediaFile, frameBytes: Int?) -> [String] {
    guard let frameBytes, var offset = lineEnd(in: file, at: 0) else { return [] }
    for _ in 0..<recordCountMax {
      guard offset < file.size, let head = try? file.bytes(9, at: offset) else { return [] }
      if head == Array("YUV4MPEG2".utf8) { return [ContainerEnd.another(at: offset)] }
      // An error of the demuxer, if something else is there.
      guard Array("FRAME".utf8).starts(with: head.prefix(5)) else { return [] }
      guard head.count >= 6, let start = lineEnd(in: file, at: offset) else {
        return ["the file is cut short in the head of the frame at byte \(offset)"]
      }
      offset = start + Int64(frameBytes)
      if offset > file.size { return [ContainerEnd.cut("FRAME", missing: offset - file.size)] }
    }
    return []
  }

  /// FFmpeg reads lines of at most as many bytes.
  private static let lineBytesMax = 256

  private static func lineEnd(in file: MediaFile, at offset: Int64) -> Int64? {
    let line = try? file.bytes(lineBytesMax, at: offset)
    return line?.firstIndex(of: UInt8(ascii: "\n")).map { offset + Int64($0) + 1 }
  }

  static func ivf(_ file: MediaFile) -> [String] {
    guard let header = try? file.bytes(8), header.count == 8 else { return [] }
    var offset = AVIStructure.number(header[6...])
    for _ in 0..<recordCountMax {
      guard offset < file.size, let head = try? file.bytes(12, at: offset) else { return [] }
      if head.starts(with: Array("DKIF".utf8)) { return [ContainerEnd.another(at: offset)] }
      guard head.count == 12 else {
        return ["the file is cut short in the head of the frame at byte \(offset)"]
      }
      offset += 12 + AVIStructure.number(head[..<4])
      if offset > file.size { return [ContainerEnd.cut("frame", missing: offset - file.size)] }
    }
    return []
  }

  // MARK: ASF

  private static let asfHeader: [UInt8] = [
    0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11, 0xA6, 0xD9, 0x00, 0xAA, 0x00, 0x62, 0xCE, 0x6C,
  ]
  private static let asfProperties: [UInt8] = [
    0xA1, 0xDC, 0xAB, 0x8C, 0x47, 0xA9, 0xCF, 0x11, 0x8E, 0xE4, 0x00, 0xC0, 0x0C, 0x20, 0x53, 0x65,
  ]
  private static let asfHeaderBytesMax: Int64 = 1 << 20

  /// Objects at the top level, each with an identifier and a size of 64 bits (ASF, 2.1).
  static func asf(_ file: MediaFile) -> [String] {
    guard !isBroadcast(file) else { return [] }
    var offset: Int64 = 0
    for _ in 0..<recordCountMax {
      guard offset < file.size, let head = try? file.bytes(24, at: offset), head.count == 24 else {
        return []
      }
      if offset > 0, head.starts(with: asfHeader) { return [ContainerEnd.another(at: offset)] }
      let size = AVIStructure.number(head[16..<23])
      let (end, overflow) = offset.addingReportingOverflow(size)
      // An impossible object size does not show where the file ends.
      guard size >= 24, head[23] == 0, !overflow else { return [] }
      if end > file.size { return [ContainerEnd.cut("object", missing: end - file.size)] }
      offset = end
    }
    return []
  }

  /// The sizes of a file that was written as it was sent are not valid (ASF, 3.2).
  private static func isBroadcast(_ file: MediaFile) -> Bool {
    guard let head = try? file.bytes(24), head.count == 24 else { return true }
    let size = min(AVIStructure.number(head[16..<23]), asfHeaderBytesMax)
    guard let header = try? file.bytes(Int(size)),
      let place = header.firstPlace(of: asfProperties), header.count > place + 88
    else { return true }
    return header[place + 88] & 1 == 1
  }
}
