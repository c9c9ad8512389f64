import RetakeMedia

/// Walks the elements of a Matroska or WebM file, and finds places where they end too early, are
/// invalid or differ from their checksum. FFmpeg's demuxer continues at the next cluster, or ends,
/// without an error.
///
/// RFC 8794 defines the format of elements, RFC 9559 the elements themselves. A segment or cluster
/// of unknown size, as in live streams, ends at the next one or at the end of the file.
struct MatroskaStructure {
  struct Element {
    var id: UInt32
    var place: Int64
    /// Start of its content.
    var start: Int64
    /// End of its content; nil for an unknown size.
    var end: Int64?
  }

  enum Head {
    case element(Element)
    case invalid
    /// The file ends within it.
    case short
  }

  private let file: MediaFile
  /// End of the segment, limited to the file's size.
  private var limit: Int64 = 0
  private var cut: String?
  private var holes: [Range<Int64>] = []
  /// The places where something else than blocks begins, in the order of the file: by hole, where
  /// it begins, or the unknown elements before it that may be a part of it.
  private(set) var doubts: [Int64] = []
  private var checksums: MatroskaChecksums
  private var followsUnknownSize = false
  /// Start of a segment that FFmpeg does not read.
  private var another: Int64?

  private static let headerID: UInt32 = 0x1A45_DFA3
  private static let segmentID: UInt32 = 0x1853_8067
  private static let clusterID: UInt32 = 0x1F43_B675
  private static let groupID: UInt32 = 0xA0
  // Void and CRC-32, which may be in any element (RFC 8794, 11.3).
  private static let fillers: Set<UInt32> = [0xEC, MatroskaChecksums.id]
  /// The IDs of a cluster's children: the fillers, blocks and block groups, and three numbers (RFC
  /// 9559, 5.1.3).
  private static let clusterParts: Set<UInt32> = [
    0xEC, 0xBF, 0xA3, 0xA0, 0xAF, 0xE7, 0xA7, 0xAB, 0x5854,
  ]
  /// More blocks than a recording of a month has; the walk ends when the count reaches zero.
  private var elementsLeft = 500_000_000

  /// - Parameter report: Called before each element at the top level of a segment; false ends the
  ///   walk. All bytes of a file with checksums are read.
  init(_ file: MediaFile, report: () -> Bool = { true }) {
    self.file = file
    checksums = MatroskaChecksums(file)
    run(report)
  }

  /// Whether each packet may have all its bytes, as they were written.
  var isWhole: Bool { doubts.isEmpty && checksums.damaged.isEmpty }

  /// Whether a byte is in a cluster, or a group of blocks, that differs from its checksum.
  func isDamaged(at offset: Int64) -> Bool { checksums.isDamaged(at: offset) }

  /// Descriptions of the losses; empty for a complete file.
  var losses: [String] {
    var texts = cut.map { [$0] } ?? []
    if let damage = ContainerEnd.damage(holes) { texts.append(damage) }
    texts += checksums.losses
    if let another { texts.append(ContainerEnd.another(at: another)) }
    return texts
  }

  private mutating func run(_ report: () -> Bool) {
    var offset: Int64 = 0
    // Several files may be concatenated.
    while offset < file.size, takeElement() {
      guard let end = passSegment(at: offset, report) else { return }
      offset = end
    }
  }

  private mutating func takeElement() -> Bool {
    elementsLeft -= 1
    return elementsLeft >= 0
  }

  /// - Returns: where the next file's header may begin; nil if no header and segment begin here.
  private mutating func passSegment(at place: Int64, _ report: () -> Bool) -> Int64? {
    guard case .element(let header) = head(at: place), header.id == Self.headerID,
      let start = header.end, case .element(let segment) = head(at: start),
      segment.id == Self.segmentID
    else { return nil }
    // FFmpeg ends a segment of unknown size only at the next segment of unknown size.
    if followsUnknownSize, segment.end != nil, another == nil { another = segment.start }
    followsUnknownSize = segment.end == nil
    limit = min(segment.end ?? file.size, file.size)
    if let end = segment.end { noteCut("Segment", end: end) }
    var offset = segment.start
    while offset < limit, takeElement() {
      guard report() else { return nil }
      // A segment of unknown size ends only where the next file begins.
      if segment.end == nil, case .element(let next) = head(at: offset), next.id == Self.headerID {
        return offset
      }
      offset = passTop(at: offset, hasSize: segment.end != nil)
    }
    return limit
  }

  /// - Returns: where the next element of the segment begins.
  private mutating func passTop(at offset: Int64, hasSize: Bool) -> Int64 {
    switch head(at: offset) {
    case .short:
      // With a known size the cut was noted at the segment's beginning.
      if !hasSize { noteCut("Segment", end: file.size + 1) }
      return limit
    case .invalid: return passHole(at: offset)
    case .element(let element):
      guard Self.isTop(element.id) || Self.fillers.contains(element.id) else {
        return passHole(at: offset)
      }
      if let end = element.end, end > limit {
        if !hasSize { noteCut(element.id == Self.clusterID ? "Cluster" : "Segment", end: end) }
        // The file is complete, so an element that is longer than its parent is damage.
        guard cut != nil else { return passHole(at: offset) }
      }
      if element.id == Self.clusterID { return passCluster(element) }
      // Only segments and clusters may have an unknown size (RFC 9559, unknownsizeallowed).
      guard let end = element.end else { return passHole(at: offset) }
      if end <= limit { checksums.check(part: element, end: end) }
      return min(end, limit)
    }
  }

  /// - Returns: where the element after the cluster begins.
  private mutating func passCluster(_ cluster: Element) -> Int64 {
    let count = holes.count
    let end = passBlocks(of: cluster)
    // Without a size, a hole hides where the cluster ends.
    if cluster.end.map({ $0 <= limit }) ?? (cut == nil && holes.count == count) {
      checksums.check(blocks: cluster, end: cluster.end ?? end)
    }
    return end
  }

  /// - Returns: where the element after the cluster begins.
  private mutating func passBlocks(of cluster: Element) -> Int64 {
    let end = min(cluster.end ?? limit, limit)
    let hasChecksum = checksums.has(cluster)
    var offset = cluster.start
    var doubt: Int64?
    while offset < end, takeElement() {
      let child: Element
      switch head(at: offset) {
      case .element(let element): child = element
      case .invalid: return passHole(at: offset, in: cluster, doubt: doubt)
      case .short:
        noteCut("Cluster", end: file.size + 1)
        return limit
      }
      // An element of the segment ends a cluster of unknown size.
      if cluster.end == nil, Self.isTop(child.id) { return offset }
      guard let childEnd = child.end, !Self.isTop(child.id) else {
        return passHole(at: offset, in: cluster, doubt: doubt)
      }
      if childEnd > end {
        // The block in which the file ends.
        if end == file.size, cluster.end == nil { noteCut("Cluster", end: childEnd) }
        // The block ends after the file and within its cluster: the cut, which is noted once,
        // explains it.
        if end == file.size, cut != nil, childEnd <= cluster.end ?? .max { return limit }
        return passHole(at: offset, in: cluster, doubt: doubt)
      }
      if child.id == Self.groupID, !hasChecksum { checksums.check(blocks: child, end: childEnd) }
      // Bytes in the middle of a block may look like an element.
      doubt = Self.clusterParts.contains(child.id) ? nil : doubt ?? offset
      offset = childEnd
    }
    return end
  }

  /// An unreadable region extends to the end of its cluster, or otherwise to the next cluster.
  private mutating func passHole(
    at offset: Int64, in cluster: Element? = nil, doubt: Int64? = nil
  ) -> Int64 {
    let next = cluster?.end.map { min($0, limit) } ?? nextCluster(behind: offset)
    // At least one byte further, or the walk would not end.
    let end = max(next, offset + 1)
    holes.append(offset..<end)
    doubts.append(doubt ?? offset)
    return end
  }

  private mutating func noteCut(_ name: String, end: Int64) {
    guard cut == nil, end > file.size else { return }
    cut = ContainerEnd.cut(name, missing: end - file.size)
  }

  private static let pageBytes = 1 << 16

  private func nextCluster(behind offset: Int64) -> Int64 {
    var start = offset + 1
    // Ends: each page is longer than the overlap with the next one.
    while start + 4 <= limit {
      guard let page = try? file.bytes(Self.pageBytes, at: start), page.count >= 4 else { break }
      var word: UInt32 = 0
      for (place, byte) in page.enumerated() {
        word = word << 8 | UInt32(byte)
        if place >= 3, word == Self.clusterID { return min(start + Int64(place) - 3, limit) }
      }
      // Pages overlap by 3 bytes, so that an identifier across two of them is found.
      start += Int64(page.count) - 3
    }
    return limit
  }

  /// Top-level elements of a segment have four-byte identifiers.
  private static func isTop(_ id: UInt32) -> Bool { id >= 0x1000_0000 }

  private func head(at offset: Int64) -> Head { Self.head(at: offset, of: file) }

  static func head(at offset: Int64, of file: MediaFile) -> Head {
    // 4 bytes of identifier and 8 of size are the longest head of Matroska (RFC 9559).
    guard let bytes = try? file.bytes(12, at: offset), let first = bytes.first else {
      return .short
    }
    // The leading zero bits encode the length of a number (RFC 8794, 4).
    let idLength = first.leadingZeroBitCount + 1
    guard idLength <= 4 else { return .invalid }
    guard bytes.count > idLength else { return .short }
    let sizeLength = bytes[idLength].leadingZeroBitCount + 1
    guard sizeLength <= 8 else { return .invalid }
    guard bytes.count >= idLength + sizeLength else { return .short }
    let id = bytes[..<idLength].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    let marked = bytes[idLength..<idLength + sizeLength].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let mask = UInt64(1) << (7 * UInt64(sizeLength)) - 1
    let start = offset + Int64(idLength + sizeLength)
    let size = marked & mask
    // All bits set means an unknown size. A 56-bit size plus an offset fits into 64 bits.
    return .element(
      Element(
        id: id, place: offset, start: start, end: size == mask ? nil : start + Int64(size)))
  }
}
