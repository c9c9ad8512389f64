import RetakeMedia

/// Compares the checksums of a Matroska file's elements with their content (RFC 8794, 11.3.1).
///
/// FFmpeg writes one for each element at the top level of a Matroska segment, and does not compare
/// them. The checksum of a segment itself is left out, because a writer would have to read the file
/// again for it.
struct MatroskaChecksums {
  typealias Element = MatroskaStructure.Element

  private let file: MediaFile
  /// Clusters and groups of blocks, in the order of the file.
  private(set) var damaged: [Range<Int64>] = []
  private var isGroup = false
  private var parts = LossPlaces()
  private var partName = ""
  /// More parts than the elements of a file have, except its clusters.
  private var partsLeft = 1_000_000

  /// CRC-32, the first part of the element whose other parts it covers.
  static let id: UInt32 = 0xBF
  private static let clusterID: UInt32 = 0x1F43_B675
  private static let names: [UInt32: String] = [
    0x114D_9B74: "SeekHead", 0x1549_A966: "Info", 0x1654_AE6B: "Tracks", 0x1C53_BB6B: "Cues",
    0x1043_A770: "Chapters", 0x1941_A469: "Attachments", 0x1254_C367: "Tags",
  ]
  /// The parts of such elements that have parts themselves, except the points of the cues: tracks
  /// with their video, sound and encodings, chapters, attachments and tags (RFC 9559, 5.1).
  private static let masters: Set<UInt32> = [
    0xAE, 0xE0, 0xE1, 0xE2, 0x55B0, 0x55D0, 0x7670, 0x6D80, 0x6240, 0x5034, 0x5035, 0x41E4, 0x45B9,
    0xB6, 0x80, 0x61A7, 0x7373, 0x63C0, 0x67C8,
  ]
  private static let depthMax = 8
  private static let pageBytes = 1 << 18

  init(_ file: MediaFile) { self.file = file }

  var losses: [String] {
    var texts: [String] = []
    if let first = damaged.first {
      let more = damaged.count > 1 ? "; \(damaged.count) such places in all" : ""
      texts.append(
        "the file is damaged: the checksum of the \(isGroup ? "group of blocks" : "cluster") from "
          + "byte \(first.lowerBound) up to byte \(first.upperBound) is wrong\(more)")
    }
    if let first = parts.first {
      texts.append(
        "the file is damaged: the checksum of the element '\(partName)' at byte \(first) is wrong"
          + parts.more("elements"))
    }
    return texts
  }

  func isDamaged(at offset: Int64) -> Bool {
    var (low, high) = (0, damaged.count)
    while low < high {
      let middle = (low + high) / 2
      if damaged[middle].upperBound <= offset { low = middle + 1 } else { high = middle }
    }
    return low < damaged.count && damaged[low].contains(offset)
  }

  func has(_ element: Element) -> Bool { checksum(of: element) != nil }

  /// - Parameters:
  ///   - blocks: A cluster, or a group of blocks.
  ///   - end: Of its content.
  mutating func check(blocks element: Element, end: Int64) {
    guard isIntact(element, end: end) == false else { return }
    if damaged.isEmpty { isGroup = element.id != Self.clusterID }
    damaged.append(element.place..<end)
  }

  /// - Parameter part: An element at the top level of a segment; some kinds are not compared.
  mutating func check(part element: Element, end: Int64) {
    guard let name = Self.names[element.id] else { return }
    check(element, end: end, name: name, depth: 0)
  }

  private mutating func check(
    _ element: Element, end: Int64, name: String, depth: Int
  ) {
    if let isIntact = isIntact(element, end: end) {
      guard !isIntact else { return }
      if parts.first == nil { partName = name }
      return parts.add(element.place)
    }
    guard depth < Self.depthMax, depth > 0 || name != "Cues" else { return }
    var offset = element.start
    while offset < end, partsLeft > 0 {
      guard case .element(let part) = MatroskaStructure.head(at: offset, of: file),
        let partEnd = part.end,
        partEnd <= end
      else { return }
      partsLeft -= 1
      if Self.masters.contains(part.id) { check(part, end: partEnd, name: name, depth: depth + 1) }
      offset = partEnd
    }
  }

  private func checksum(of element: Element) -> Element? {
    guard case .element(let sum) = MatroskaStructure.head(at: element.start, of: file),
      sum.id == Self.id,
      let end = sum.end, end - sum.start == 4
    else { return nil }
    return sum
  }

  /// - Returns: nil if the element has no checksum.
  private func isIntact(_ element: Element, end: Int64) -> Bool? {
    guard let sum = checksum(of: element), var offset = sum.end, offset <= end else { return nil }
    // Little-endian, unlike all other numbers of the format.
    guard let stored = try? file.bytes(4, at: sum.start), stored.count == 4 else { return nil }
    var state = CyclicChecksum.png([])
    while offset < end {
      let count = Int(min(Int64(Self.pageBytes), end - offset))
      // The demuxer reports bytes that cannot be read.
      guard let page = try? file.bytes(count, at: offset), !page.isEmpty else { return true }
      state = CyclicChecksum.png(page[...], after: state)
      offset += Int64(page.count)
    }
    return state == stored.reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }
}
