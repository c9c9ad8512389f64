import RetakeMedia

/// Walks the blocks of a GIF file (GIF89a specification), which ends with a trailer.
struct GIFStructure {
  private let file: MediaFile
  private var page: [UInt8] = []
  private var pageStart: Int64 = 0

  private static let pageBytes = 1 << 16
  /// The signature and the description of the screen.
  private static let headBytes: Int64 = 13

  private init(_ file: MediaFile) { self.file = file }

  static func losses(of file: MediaFile) -> [String] {
    var walk = GIFStructure(file)
    return walk.loss().map { [$0] } ?? []
  }

  private mutating func loss() -> String? {
    guard let flags = byte(at: 10) else { return Self.cut }
    var offset = Self.headBytes + Self.colorBytes(flags)
    // Ends: each block passes a byte or more.
    while let introducer = byte(at: offset) {
      switch introducer {
      case 0x2C:
        // An image: its place, its colors, the size of its codes, then its data.
        guard let flags = byte(at: offset + 9) else { return Self.cut }
        guard let end = passBlocks(at: offset + 11 + Self.colorBytes(flags)) else {
          return Self.cut
        }
        offset = end
      case 0x21:
        guard let end = passBlocks(at: offset + 2) else { return Self.cut }
        offset = end
      // Some writers end a block twice.
      case 0x00: offset += 1
      case 0x3B: return another(behind: offset + 1)
      default: return "the file is damaged: no block begins at byte \(offset)"
      }
    }
    return Self.cut
  }

  private static let cut = "the file is cut short: its trailer is missing"

  private func another(behind offset: Int64) -> String? {
    (try? file.bytes(4, at: offset)) == Array("GIF8".utf8)
      ? ContainerEnd.another(at: offset) : nil
  }

  /// Bytes of a table of colors, from the flags before it.
  private static func colorBytes(_ flags: UInt8) -> Int64 {
    flags & 0x80 == 0 ? 0 : 3 << (Int64(flags & 7) + 1)
  }

  /// - Returns: the end of a sequence of blocks; nil where the file ends within it.
  private mutating func passBlocks(at start: Int64) -> Int64? {
    var offset = start
    while let length = byte(at: offset) {
      offset += 1 + Int64(length)
      if length == 0 { return offset }
    }
    return nil
  }

  private mutating func byte(at offset: Int64) -> UInt8? {
    if !(pageStart..<pageStart + Int64(page.count)).contains(offset) {
      guard let bytes = try? file.bytes(Self.pageBytes, at: offset) else { return nil }
      (page, pageStart) = (bytes, offset)
    }
    let place = Int(offset - pageStart)
    return page.indices.contains(place) ? page[place] : nil
  }
}
