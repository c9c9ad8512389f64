import RetakeCore
import RetakeMedia

/// Walks the chunks of an animated PNG. Its header counts the frames, and each chunk has a checksum
/// (PNG specification, third edition).
struct APNGStructure {
  private let file: MediaFile
  /// The number of frames that the header counts.
  private var counted: Int?
  private var frames = 0
  private var damaged = LossPlaces()

  private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
  private static let pageBytes = 1 << 16

  private init(_ file: MediaFile) { self.file = file }

  static func losses(of file: MediaFile) -> [String] {
    var walk = APNGStructure(file)
    var losses = walk.end().map { [$0] } ?? []
    if let first = walk.damaged.first {
      losses.append(
        "the file is damaged: the checksum of the chunk at byte \(first) is wrong"
          + walk.damaged.more("chunks"))
    }
    if let counted = walk.counted, walk.frames < counted {
      losses.append(
        "the header counts \(counted == 1 ? "1 frame" : "\(counted) frames"), and "
          + "the file has \(walk.frames)")
    }
    return losses
  }

  /// A description of the damage at the end of the file; nil if the file is complete.
  private mutating func end() -> String? {
    var offset = Int64(Self.signature.count)
    // Ends: each chunk has 12 bytes or more.
    while offset < file.size {
      guard let head = try? file.bytes(12, at: offset), head.count >= 8 else { break }
      let size = Int64(Self.number(head[..<4]))
      let end = offset + 12 + size
      let name = String(decoding: head[4..<8], as: UTF8.self)
      guard end <= file.size else { return ContainerEnd.cut(name, missing: end - file.size) }
      if !isIntact(offset + 4..<end - 4) { damaged.add(offset) }
      if name == "acTL", head.count == 12 {
        let number = Self.number(head[8..<12])
        // PNG has numbers of 31 bits. A writer that cannot seek back leaves another one.
        counted = number < 1 << 31 ? Int(number) : nil
      }
      if name == "fcTL" { frames += 1 }
      if name == "IEND" {
        let next = try? file.bytes(Self.signature.count, at: end)
        return next == Self.signature ? ContainerEnd.another(at: end) : nil
      }
      offset = end
    }
    return "the file is cut short: its last chunk (IEND) is missing"
  }

  /// - Parameter range: The name and the content of a chunk; its checksum follows.
  private func isIntact(_ range: Range<Int64>) -> Bool {
    var (offset, state) = (range.lowerBound, UInt32?.none)
    while offset < range.upperBound {
      let count = Int(min(Int64(Self.pageBytes), range.upperBound - offset))
      // The demuxer reports bytes that cannot be read.
      guard let page = try? file.bytes(count, at: offset), !page.isEmpty else { return true }
      state = CyclicChecksum.png(page[...], after: state)
      offset += Int64(page.count)
    }
    guard let stored = try? file.bytes(4, at: range.upperBound) else { return true }
    return state == Self.number(stored[...])
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.reduce(0) { $0 << 8 | UInt32($1) }
  }
}
