/// The outermost boxes of an MP4 or QuickTime file: a size of 32 bits and four letters each.
enum MovieBoxes {
  /// More boxes than any real file has at its top.
  private static let boxesMax = 100_000

  /// Whether the index (`moov`) is there from its beginning to its end.
  ///
  /// - Throws: `MediaError.read`.
  static func hasIndex(_ file: MediaFile) throws(MediaError) -> Bool {
    var offset: Int64 = 0
    for _ in 0..<boxesMax {
      let header = try file.bytes(16, at: offset)
      guard header.count >= 8 else { return false }
      var size = number(header[0..<4])
      // 1: the size follows in 64 bits. 0: the box goes to the end of the file.
      if size == 1 { size = header.count == 16 ? number(header[8..<16]) : 0 }
      if size == 0 { size = file.size - offset }
      let (end, overflow) = offset.addingReportingOverflow(size)
      guard size >= 8, !overflow else { return false }
      if Array(header[4..<8]) == Array("moov".utf8) { return end <= file.size }
      offset = end
    }
    return false
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
    Int64(bitPattern: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }
}
