/// The boxes of an MP4 or QuickTime file, each with a size and a four-letter name.
package enum MovieBoxes {
  /// More top-level boxes than any real file has.
  private static let boxesMax = 100_000

  /// How much of the index (`moov`) a file has.
  enum Index: Equatable {
    case complete
    /// The file ends before the index, or the index was never written.
    case absent
    /// The file ends within the index.
    case cut(missingBytes: Int64)
    /// The box at this offset is garbage. The index after it, if there is one, cannot be found.
    case hidden(offset: Int64)
  }

  /// - Throws: `MediaError.read`.
  static func index(of file: MediaFile) throws -> Index {
    var offset: Int64 = 0
    for _ in 0..<boxesMax {
      let header = try file.bytes(16, at: offset)
      guard header.count >= 8 else { return .absent }
      let name = String(decoding: header[4..<8], as: UTF8.self)
      var size = number(header[0..<4])
      // 1: the size follows in 64 bits. 0: the box extends to the end of the file.
      if size == 1 { size = header.count == 16 ? number(header[8..<16]) : 0 }
      if size == 0 { size = file.size - offset }
      let (end, overflow) = offset.addingReportingOverflow(size)
      // A box is at least as large as its own header, so a smaller size is damage.
      guard size >= 8, !overflow else { return .hidden(offset: offset) }
      if name == "moov" {
        return end <= file.size ? .complete : .cut(missingBytes: end - file.size)
      }
      if end > file.size, !topLevelNames.contains(name) { return .hidden(offset: offset) }
      offset = end
    }
    return .absent
  }

  /// Boxes that occur at the top level of real files.
  package static let topLevelNames: Set<String> = [
    "bloc", "emsg", "free", "ftyp", "idat", "mdat", "meta", "mfra", "moof", "moov", "pdin", "pnot",
    "prft", "sidx", "skip", "ssix", "styp", "udta", "uuid", "wide",
  ]

  /// Whether the file has fragments and no index at all: a segment of DASH, HLS or CMAF.
  static func isSegment(_ file: MediaFile) throws -> Bool {
    var names: Set<String> = []
    try eachBox(of: file, in: 0..<file.size) { (name, _) in
      names.insert(name)
      return name != "moof"
    }
    return names.contains("moof") && !names.contains("moov")
  }

  /// Whether the file has an index for fragments, and neither fragments nor other media.
  static func isInitialization(_ file: MediaFile) throws -> Bool {
    var (hasMedia, movie) = (false, Range<Int64>?.none)
    try eachBox(of: file, in: 0..<file.size) { (name, content) in
      if name == "moov" { movie = content }
      hasMedia = hasMedia || ["mdat", "moof"].contains(name)
      return !hasMedia
    }
    guard let movie, !hasMedia else { return false }
    return try first("mvex", of: file, in: movie) != nil
  }

  /// Number of bytes that a compressed index claims to have after decompression; 0 for a plain one.
  ///
  /// Found by position, as FFmpeg finds it, and not by the sizes of the inner boxes.
  static func compressedIndexBytes(_ file: MediaFile) throws -> Int64 {
    guard let movie = try first("moov", of: file, in: 0..<file.size) else { return 0 }
    var bytesMax: Int64 = 0
    try eachBox(of: file, in: movie) { (name, content) in
      // The box `dcom` of 12 bytes, then the head of `cmvd` and the number.
      if name == "cmov", content.count >= 24 {
        bytesMax = max(bytesMax, number(try file.bytes(4, at: content.lowerBound + 20)[...]))
      }
      return true
    }
    return bytesMax
  }

  /// Whether the file is an AVIF image that FFmpeg 5.1 cannot read: an image whose item locations
  /// have no offset or no length (FFmpeg uses a number that it never read), or an image made of
  /// tiles.
  static func isUnreadableImage(_ file: MediaFile) throws -> Bool {
    guard try stillImage(file) == "AVIF",
      let meta = try first("meta", of: file, in: 0..<file.size), meta.count >= 4
    else { return false }
    // A box with a version and flags before its boxes (ISO/IEC 14496-12, 8.11).
    let inner = meta.lowerBound + 4..<meta.upperBound
    if let places = try first("iloc", of: file, in: inner), places.count >= 6 {
      let sizes = try file.bytes(2, at: places.lowerBound + 4)
      // In halves of bytes: the size of an offset, then the size of a length.
      if sizes[0] >> 4 == 0 || sizes[0] & 15 == 0 { return true }
    }
    return try primaryKind(file, in: inner) == "grid"
  }

  /// The kind of the image that a reader shows: `av01`, or `grid` for one of tiles.
  private static func primaryKind(
    _ file: MediaFile, in meta: Range<Int64>
  ) throws -> String? {
    guard let primary = try first("pitm", of: file, in: meta), primary.count >= 6,
      let items = try first("iinf", of: file, in: meta), items.count >= 6
    else { return nil }
    let wanted = try file.bytes(2, at: primary.lowerBound + 4)
    var kind: String?
    // The number of items has 16 bits in version 0.
    try eachBox(of: file, in: items.lowerBound + 6..<items.upperBound) {
      (name, entry) in
      // Version and flags, the item's number, its protection, then its kind.
      let bytes = try file.bytes(12, at: entry.lowerBound)
      guard name == "infe", bytes.count == 12, entry.count >= 12 else { return true }
      if Array(bytes[4..<6]) == wanted { kind = String(decoding: bytes[8..<12], as: UTF8.self) }
      return kind == nil
    }
    return kind
  }

  /// The content of the first box of a name.
  static func first(
    _ wanted: String, of file: MediaFile, in range: Range<Int64>
  ) throws -> Range<Int64>? {
    var found: Range<Int64>?
    try eachBox(of: file, in: range) { (name, content) in
      if name == wanted { found = content }
      return found == nil
    }
    return found
  }

  /// The kind of still image that the brands in the file's first box specify; nil if it is not a
  /// still image.
  ///
  /// - Throws: `MediaError.read`.
  static func stillImage(_ file: MediaFile) throws -> String? {
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

  /// Maximum bytes read of the first box; in practice it has a few dozen.
  private static let headBytesMax = 512

  private static let imageBrands = [
    "avif": "AVIF", "crx ": "CR3", "heic": "HEIC", "heim": "HEIC", "heis": "HEIC", "heix": "HEIC",
    "mif1": "HEIF", "mif2": "HEIF",
  ]

  /// Maximum number of sibling boxes; fragmented files have two for about every second.
  private static let siblingsMax = 1_000_000

  /// Calls `body` with the name and the content range of each box in the range, until it returns
  /// `false`.
  package static func eachBox(
    of file: MediaFile, in range: Range<Int64>,
    _ body: (String, Range<Int64>) throws -> Bool
  ) throws {
    var offset = range.lowerBound
    for _ in 0..<siblingsMax {
      guard offset + 8 <= range.upperBound else { return }
      let head = try file.bytes(16, at: offset)
      guard head.count >= 8 else { return }
      var (size, headBytes) = (number(head[..<4]), Int64(8))
      if size == 1, head.count == 16 { (size, headBytes) = (number(head[8...]), 16) }
      // 0: the box extends to the end (ISO/IEC 14496-12, 4.2).
      if size == 0 { size = range.upperBound - offset }
      // A box that does not fit into its parent is damage. The boxes before it still count.
      guard size >= headBytes, size <= range.upperBound - offset else { return }
      let name = String(decoding: head[4..<8], as: UTF8.self)
      guard try body(name, offset + headBytes..<offset + size) else { return }
      offset += size
    }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
    Int64(bitPattern: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }
}
