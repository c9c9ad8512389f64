import RetakeCore
import RetakeMedia

/// Walks the pages of an Ogg file (RFC 3533) and finds damaged, missing and unread pages. FFmpeg's
/// demuxer leaves damaged pages out, and continues or ends without an error.
struct OggStructure {
  /// One logical stream.
  private struct Stream {
    /// The number of the next page.
    var next: UInt32
    /// A page with content has passed: pages of headers alone have the position 0.
    var hasContent = false
    var hasEnded = false
  }

  /// The head of a page.
  fileprivate struct Head {
    var begins: Bool
    var ends: Bool
    var isHeader: Bool
    var serial: UInt32
    var sequence: UInt32
    var bodyStart: Int
    var bodyBytes: Int
  }

  private let file: MediaFile
  private var streams: [UInt32: Stream] = [:]
  /// Pages whose checksum is wrong, and bytes between pages.
  private var damaged = LossPlaces()
  private var missing = LossPlaces()
  private var cut: String?
  /// Number of damaged pages of which the leap in the numbers has not passed yet.
  private var explained = 0

  private static let capture = Array("OggS".utf8)
  private static let headBytes = 27
  private static let scanBytes = 1 << 16

  private init(_ file: MediaFile) { self.file = file }

  static func losses(of file: MediaFile) -> [String] {
    var walk = OggStructure(file)
    walk.run()
    return walk.texts
  }

  private var texts: [String] {
    var texts: [String] = []
    if let first = damaged.first {
      texts.append(
        "the file is damaged: the page at byte \(first) is not what was written"
          + damaged.more("pages"))
    }
    if let first = missing.first {
      texts.append(
        "\(counted(missing.count, "page is", "pages are")) missing before byte "
          + "\(first): the numbers of the pages leap")
    }
    let isOpen = streams.values.contains { $0.hasContent && !$0.hasEnded }
    if let cut {
      texts.append(cut)
    } else if isOpen {
      texts.append("the file is cut short: the page that ends its stream is missing")
    }
    return texts
  }

  private mutating func run() {
    var offset: Int64 = 0
    // Ends: each round passes a byte or more.
    while offset < file.size {
      offset = pass(at: offset)
    }
  }

  /// - Returns: where the next page may begin.
  private mutating func pass(at offset: Int64) -> Int64 {
    guard let bytes = try? file.bytes(Self.headBytes + 255, at: offset) else { return file.size }
    guard bytes.starts(with: Self.capture) else {
      note(damageAt: offset)
      return nextPage(from: offset + 1)
    }
    guard let head = Head(bytes) else {
      cut = "the file is cut short in the head of the page at byte \(offset)"
      return file.size
    }
    let end = offset + Int64(head.bodyStart + head.bodyBytes)
    guard end <= file.size else {
      // A false length is damage, if another page follows.
      let next = nextPage(from: offset + 1)
      if next < file.size { note(damageAt: offset) } else { cut = Self.cut(end - file.size) }
      return next
    }
    guard let page = try? file.bytes(Int(end - offset), at: offset) else { return file.size }
    guard Self.isIntact(page) else {
      note(damageAt: offset)
      return nextPage(from: offset + 1)
    }
    take(head, at: offset)
    return end
  }

  private static func cut(_ missing: Int64) -> String {
    ContainerEnd.cut("page", missing: missing)
  }

  private mutating func note(damageAt offset: Int64) {
    damaged.add(offset)
    explained += 1
  }

  /// The checksum counts its own bytes as zero.
  private static func isIntact(_ page: [UInt8]) -> Bool {
    let stored = page[22..<26].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    var page = page
    for place in 22..<26 { page[place] = 0 }
    return CyclicChecksum.ogg(page) == stored
  }

  private mutating func take(_ head: Head, at offset: Int64) {
    let before = streams[head.serial]
    // Pages of a chained stream (RFC 3533, 4), which FFmpeg reads, have numbers from 0 again.
    if !head.begins, let before, before.hasContent, head.sequence > before.next {
      // A server that sends a running stream puts the headers before it, with numbers of their
      // own, so only pages with content are compared.
      let count = Int(head.sequence - before.next)
      if count > explained { missing.add(offset, count: count - explained) }
      explained -= min(count, explained)
    }
    let hadContent = head.begins ? false : before?.hasContent ?? false
    streams[head.serial] = Stream(
      next: head.sequence &+ 1, hasContent: hadContent || !head.isHeader, hasEnded: head.ends)
  }

  private func nextPage(from start: Int64) -> Int64 {
    var start = start
    // Ends: each piece is longer than the overlap with the next one.
    while start + Int64(Self.capture.count) <= file.size {
      guard let bytes = try? file.bytes(Self.scanBytes, at: start), bytes.count >= 4 else { break }
      if let place = bytes.firstPlace(of: Self.capture) { return start + Int64(place) }
      start += Int64(bytes.count) - 3
    }
    return file.size
  }
}

extension OggStructure.Head {
  /// Nil where the file ends within the head.
  fileprivate init?(_ bytes: [UInt8]) {
    guard bytes.count >= 27, bytes.count >= 27 + Int(bytes[26]) else { return nil }
    func number(_ range: Range<Int>) -> UInt32 {
      bytes[range].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
    (begins, ends) = (bytes[5] & 2 != 0, bytes[5] & 4 != 0)
    isHeader = bytes[6..<14].allSatisfy { $0 == 0 }
    (serial, sequence) = (number(14..<18), number(18..<22))
    bodyStart = 27 + Int(bytes[26])
    bodyBytes = bytes[27..<bodyStart].reduce(0) { $0 + Int($1) }
  }
}
