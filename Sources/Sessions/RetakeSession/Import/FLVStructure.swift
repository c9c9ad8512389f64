import RetakeMedia

/// Walks the tags of an FLV file (FLV specification, annex E). A number after each tag repeats its
/// size.
///
/// FFmpeg leaves out a tag whose number is another one, and continues at the next tags that fit,
/// without an error. It reads the last tag as far as it goes, and stops at the header of a file that
/// was appended.
struct FLVStructure {
  private struct Tag {
    var kind: UInt8
    /// The head and the content.
    var range: Range<Int64>

    var size: Int64 { range.upperBound - range.lowerBound }
    var next: Int64 { range.upperBound + 4 }
  }

  private let file: MediaFile
  /// Where bytes are missing, or are not tags, in the order of the file.
  private(set) var holes: [Range<Int64>] = []
  private var end: String?
  /// Bytes of all tags so far.
  private var sum: Int64 = 0
  /// By kind of tags. Some encoders write zeros or other numbers after healthy tags, so a number
  /// counts only if the first tag of its kind has the right one.
  private var hasSizes: [UInt8: Bool] = [:]

  /// More tags than a recording of a month has.
  private static let tagCountMax = 200_000_000
  private static let headBytes: Int64 = 11
  /// Sound, video and data; FFmpeg skips any other tag by itself.
  private static let kinds: Set<UInt8> = [8, 9, 18]
  private static let signature = Array("FLV\u{1}".utf8)
  private static let pageBytes = 1 << 16

  init(_ file: MediaFile) {
    self.file = file
    run()
  }

  var losses: [String] { [ContainerEnd.damage(holes), end].compactMap(\.self) }

  private mutating func run() {
    guard let header = try? file.bytes(9), header.count == 9 else { return }
    // An empty tag's number precedes the first tag.
    var offset = Self.number(header[5...]) + 4
    for _ in 0..<Self.tagCountMax {
      guard offset < file.size, let next = pass(at: offset) else { return }
      offset = next
    }
  }

  /// - Returns: where the next tag begins; nil at the end of the walk.
  private mutating func pass(at offset: Int64) -> Int64? {
    guard let head = try? file.bytes(Int(Self.headBytes), at: offset) else { return nil }
    if head.starts(with: Self.signature) {
      end = ContainerEnd.another(at: offset)
      return nil
    }
    guard head.count == Self.headBytes else {
      end = "the file is cut short in the head of the tag at byte \(offset)"
      return nil
    }
    let tag = Self.tag(head[...], at: offset)
    if tag.range.upperBound > file.size, Self.kinds.contains(tag.kind) {
      // A false size is damage, if another tag follows.
      if let next = passHole(at: offset) { return next }
      end = ContainerEnd.cut("tag", missing: tag.range.upperBound - file.size)
      return nil
    }
    sum += tag.size
    guard Self.kinds.contains(tag.kind) else {
      guard isRight(after: tag) != true else { return tag.next }
      return passHole(at: offset) ?? (hasSizes.values.contains(true) ? passRest(at: offset) : nil)
    }
    guard let isRight = isRight(after: tag) else { return nil }
    if isRight {
      hasSizes[tag.kind] = hasSizes[tag.kind] ?? true
    } else if hasSizes[tag.kind] == true {
      return passHole(at: offset) ?? passRest(at: offset)
    } else if tag.next >= file.size || isHead(at: tag.next) {
      hasSizes[tag.kind] = false
    } else {
      return passHole(at: offset)
    }
    return tag.next
  }

  /// Whether the number after a tag is its size, or another one that FFmpeg accepts, too: without
  /// the head or a part of it, or the sum of all sizes.
  ///
  /// - Returns: nil if the file ends before the number.
  private func isRight(after tag: Tag) -> Bool? {
    guard let bytes = try? file.bytes(4, at: tag.range.upperBound), bytes.count == 4 else {
      return nil
    }
    let number = Self.number(bytes[...])
    return number > 0
      && [tag.size, tag.size - 1, tag.size - Self.headBytes, sum].contains(number)
  }

  /// - Returns: where the next tag begins; nil if there is no other.
  private mutating func passHole(at offset: Int64) -> Int64? {
    guard let next = nextTag(from: offset + 1) else { return nil }
    holes.append(offset..<next)
    return next
  }

  /// Bytes up to the end of the file, without a tag. Zeros only fill it.
  private mutating func passRest(at offset: Int64) -> Int64? {
    if !ContainerEnd.isZero(file, from: offset) { holes.append(offset..<file.size) }
    return nil
  }

  /// The first tag that the right number follows.
  private func nextTag(from start: Int64) -> Int64? {
    var start = start
    // Ends: each page is longer than the overlap with the next one.
    while let page = try? file.bytes(Self.pageBytes, at: start), page.count >= Self.headBytes {
      let last = page.count - Int(Self.headBytes)
      for place in 0...last where Self.isHead(page[place...]) {
        let tag = Self.tag(page[place...], at: start + Int64(place))
        if let bytes = try? file.bytes(4, at: tag.range.upperBound), bytes.count == 4,
          Self.number(bytes[...]) == tag.size
        {
          return tag.range.lowerBound
        }
      }
      start += Int64(last) + 1
    }
    return nil
  }

  private func isHead(at offset: Int64) -> Bool {
    guard let head = try? file.bytes(Int(Self.headBytes), at: offset) else { return false }
    return head.count == Self.headBytes && Self.isHead(head[...])
  }

  /// - Parameter bytes: 11 or more.
  private static func isHead(_ bytes: ArraySlice<UInt8>) -> Bool {
    let start = bytes.startIndex
    // The two upper bits are reserved, and the number of the stream is always 0.
    return bytes[start] & 0xC0 == 0 && kinds.contains(bytes[start] & 0x1F)
      && bytes[start + 8] == 0 && bytes[start + 9] == 0 && bytes[start + 10] == 0
  }

  private static func tag(_ bytes: ArraySlice<UInt8>, at offset: Int64) -> Tag {
    let start = bytes.startIndex
    let size = number(bytes[start + 1..<start + 4])
    return Tag(kind: bytes[start] & 0x1F, range: offset..<offset + headBytes + size)
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
    bytes.reduce(0) { $0 << 8 | Int64($1) }
  }
}
