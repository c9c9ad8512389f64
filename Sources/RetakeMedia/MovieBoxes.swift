/// The top-level boxes of an MP4 or QuickTime file, each with a 32-bit size and a four-letter name.
enum MovieBoxes {
  /// More top-level boxes than any real file has.
  private static let boxesMax = 100_000

  /// Whether the index (`moov`) is complete.
  ///
  /// - Throws: `MediaError.read`.
  static func hasIndex(_ file: MediaFile) throws(MediaError) -> Bool {
    var offset: Int64 = 0
    for _ in 0..<boxesMax {
      let header = try file.bytes(16, at: offset)
      guard header.count >= 8 else { return false }
      var size = number(header[0..<4])
      // 1: the size follows in 64 bits. 0: the box extends to the end of the file.
      if size == 1 { size = header.count == 16 ? number(header[8..<16]) : 0 }
      if size == 0 { size = file.size - offset }
      let (end, overflow) = offset.addingReportingOverflow(size)
      // A box is at least as large as its own header, so a smaller size is damage.
      guard size >= 8, !overflow else { return false }
      // An index that was cut off cannot be used either.
      if Array(header[4..<8]) == Array("moov".utf8) { return end <= file.size }
      offset = end
    }
    return false
  }

  /// The kind of still image that the brands in the file's first box specify; nil if it is not a
  /// still image.
  ///
  /// - Throws: `MediaError.read`.
  static func stillImage(_ file: MediaFile) throws(MediaError) -> String? {
    let head = try file.bytes(headBytesMax)
    guard head.count >= 16, Array(head[4..<8]) == Array("ftyp".utf8) else { return nil }
    let end = min(Int(clamping: number(head[0..<4])), head.count)
    // The major brand, a version of four bytes, then the compatible brands.
    for start in [8] + stride(from: 16, to: max(16, end - 3), by: 4) {
      let brand = String(decoding: head[start..<start + 4], as: UTF8.self)
      if let format = imageBrands[brand] { return format }
    }
    return nil
  }

  /// Maximum bytes read of the first box; real ones have a few dozen.
  private static let headBytesMax = 512

  private static let imageBrands = [
    "avif": "AVIF", "crx ": "CR3", "heic": "HEIC", "heim": "HEIC", "heis": "HEIC", "heix": "HEIC",
    "mif1": "HEIF", "mif2": "HEIF",
  ]

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
    Int64(bitPattern: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }
}
