/// One results file in memory: its header and its blocks, each checked against its B line.
///
/// Frames are parsed block by block, and only on request.
package struct ResultChunk: Sendable {
  /// The frames between two B lines.
  package struct Block: Hashable, Sendable {
    package var frameCount: Int
    /// Digest of the block's lines with their line ends.
    package var digest: Digest128
    /// Lines that state a fact.
    package var facts: Int
    /// The number of frames with facts, by sink.
    package var framesWithFacts: [Int]
    /// The number of dropped frames, by sink.
    package var dropped: [Int]
    /// Whether the block has only F and D lines, so that its frames can be read as `BoxFrames`.
    package var holdsBoxesAlone = true
    var bytes: Range<Int>
    /// The number of the line in the file where the block begins, from 1.
    var firstLine: Int
  }

  package let file: String
  package let header: ResultHeader
  package let blocks: [Block]
  // SAFETY: pointers into these bytes are used within one call, while this value holds the array.
  // All ranges come from a scan of the same bytes.
  let bytes: [UInt8]

  package var frameCount: Int { blocks.reduce(0) { $0 + $1.frameCount } }

  /// Finds the blocks and checks their digests.
  ///
  /// - Parameter file: The file's name in messages.
  package init(_ bytes: [UInt8], file: String) throws {
    self.bytes = bytes
    self.file = file
    let first = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
    let line = String(decoding: bytes[..<first], as: UTF8.self)
    // Git may change line ends when it checks out. Asked before the header is parsed, so that the
    // error names this cause and not a damaged header.
    if line.hasSuffix("\r") { throw ResultTextError.lineEnds(file: file) }
    let header = try ResultHeader(parsing: line, file: file)
    self.header = header
    // A header has its line end, too, even if the run had no frames.
    guard first < bytes.endIndex else { throw ResultTextError.cutShort(file: file) }
    let scan = BlockScan(file: file, sinks: header.sinks)
    blocks = try bytes.withUnsafeBufferPointer { pointer in
      try scan.blocks(in: pointer, from: first + 1)
    }
  }

  /// The frames of a block.
  package func frames(of block: Block) throws -> [ResultFrame] {
    let parser = FrameParser(header: header, file: file)
    return try bytes.withUnsafeBufferPointer { pointer in
      try parser.frames(in: pointer, block: block)
    }
  }

  /// Appends every block to a rolling digest, in the same way as the writer.
  package func append(to hasher: inout DigestHasher) {
    bytes.withUnsafeBytes { pointer in
      for block in blocks { hasher.append(UnsafeRawBufferPointer(rebasing: pointer[block.bytes])) }
    }
  }
}

/// Finds the blocks of a file.
private struct BlockScan {
  let file: String
  let sinks: [String]

  func blocks(
    in bytes: UnsafeBufferPointer<UInt8>, from start: Int
  ) throws -> [ResultChunk.Block] {
    var blocks: [ResultChunk.Block] = []
    // Lines count from 1, and line 1 is the header.
    var block = emptyBlock(start..<start, firstLine: 2)
    var number = 1
    // With one sink there are no O lines, and every X line is about that sink.
    var sink = 0
    var hasFacts = false
    func noteFact() {
      block.facts += 1
      // A damaged file may have an O line and no sink.
      if !hasFacts, sink < sinks.count { block.framesWithFacts[sink] += 1 }
      hasFacts = true
    }
    let end = try LineScan.forEachLine(in: bytes, range: start..<bytes.count) {
      line in
      number += 1
      switch line.isEmpty ? 0 : bytes[line.lowerBound] {
      case UInt8(ascii: "B"):
        // A B line is not covered by the digest that it states.
        block.bytes = block.bytes.lowerBound..<line.lowerBound
        try close(&block, bytes: bytes, line: line, number: number)
        blocks.append(block)
        block = emptyBlock((line.upperBound + 1)..<bytes.count, firstLine: number + 1)
      case UInt8(ascii: "F"):
        block.frameCount += 1
        hasFacts = false
      case UInt8(ascii: "D"): noteFact()
      case UInt8(ascii: "O"):
        // A sink that the header does not have is reported by `FrameParser`; here lines are only
        // counted.
        sink = index(ofSinkIn: line, bytes) ?? sink
        hasFacts = false
        block.holdsBoxesAlone = false
      case UInt8(ascii: "X"):
        if bytes[line].starts(with: "X drop ".utf8), sink < sinks.count { block.dropped[sink] += 1 }
        block.holdsBoxesAlone = false
      case let letter where FrameParser.isFact[Int(letter)]:
        noteFact()
        block.holdsBoxesAlone = false
      // A line of a later version counts for the digest alone.
      default: block.holdsBoxesAlone = false
      }
    }
    // A file that was cut right after a B line passes here. A comparison finds the cut by the
    // number of frames in golden.yml.
    guard end == bytes.count, block.bytes.lowerBound >= end else {
      throw ResultTextError.cutShort(file: file)
    }
    return blocks
  }

  private func emptyBlock(_ bytes: Range<Int>, firstLine: Int) -> ResultChunk.Block {
    ResultChunk.Block(
      frameCount: 0, digest: .zero, facts: 0, framesWithFacts: sinks.map { _ in 0 },
      dropped: sinks.map { _ in 0 }, bytes: bytes, firstLine: firstLine)
  }

  private func index(ofSinkIn line: Range<Int>, _ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    guard var cursor = ByteCursor(bytes, line), cursor.skip(UInt8(ascii: "O")), cursor.skipSpace()
    else { return nil }
    return cursor.word().flatMap { sinks.firstIndex(of: $0) }
  }

  private func close(
    _ block: inout ResultChunk.Block, bytes: UnsafeBufferPointer<UInt8>, line: Range<Int>,
    number: Int
  ) throws {
    guard var cursor = ByteCursor(bytes, line), cursor.skip(UInt8(ascii: "B")), cursor.skipSpace(),
      let count = cursor.integer(), cursor.skipSpace(), let digest = cursor.digest(),
      cursor.isAtEnd
    else {
      throw ResultTextError.line(
        file: file, line: number, text: String(decoding: bytes[line].prefix(80), as: UTF8.self),
        expected: "'B count digest'")
    }
    block.digest = Digest128(
      of: UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[block.bytes])))
    // `ResultWriter` closes no empty block, so a B line without frames was added later.
    guard block.digest == digest, block.frameCount == count, count > 0 else {
      throw ResultTextError.block(file: file, line: number)
    }
  }
}

/// Parses the lines of one block.
private struct FrameParser {
  let header: ResultHeader
  let file: String

  func frames(
    in bytes: UnsafeBufferPointer<UInt8>, block: ResultChunk.Block
  ) throws -> [ResultFrame] {
    var frames: [ResultFrame] = []
    frames.reserveCapacity(block.frameCount)
    var number = block.firstLine - 1
    _ = try LineScan.forEachLine(in: bytes, range: block.bytes) { line in
      number += 1
      guard parse(bytes, line, into: &frames) else {
        throw ResultTextError.line(
          file: file, line: number, text: String(decoding: bytes[line].prefix(80), as: UTF8.self),
          // The first byte of an empty line is its line end, which has no form.
          expected: Self.forms[bytes[line.lowerBound]] ?? "a line after its F line")
      }
    }
    return frames
  }

  private static let forms: [UInt8: String] = [
    UInt8(ascii: "F"): "'F [track:]sequence pts'", UInt8(ascii: "O"): "'O sink'",
    UInt8(ascii: "D"): "'D identity:class x y w h score'", UInt8(ascii: "C"): "'C n label=score'",
    UInt8(ascii: "V"): "'V name=value'", UInt8(ascii: "P"): "'P 640x480 I420 full bt709 digest'",
    UInt8(ascii: "N"): "'N type shape digest'", UInt8(ascii: "W"): "'W name rate n v…'",
    UInt8(ascii: "T"): "'T name \"JSON text\"'", UInt8(ascii: "U"): "'U kind digest'",
    UInt8(ascii: "M"): "'M identity label score WxH counts'",
    UInt8(ascii: "K"): "'K identity label score bones name=x,y,score…'",
    UInt8(ascii: "L"): "'L identity label score open|closed x,y…'",
    UInt8(ascii: "I"): "'I identity label score WxHxC type digest'",
    UInt8(ascii: "E"): "'E identity label score base64'",
    UInt8(ascii: "J"): "'J identity label score JSON'",
    UInt8(ascii: "X"): "'X fate reason node'",
  ]

  /// By the first byte of a line.
  static let isFact = (UInt8.min...UInt8.max).map { letter in
    forms[letter] != nil && !"FOX".utf8.contains(letter)
  }

  /// Whether the line follows the grammar. Lines with unknown leading letters are skipped.
  private func parse(
    _ bytes: UnsafeBufferPointer<UInt8>, _ line: Range<Int>, into frames: inout [ResultFrame]
  ) -> Bool {
    guard var cursor = ByteCursor(bytes, line), !line.isEmpty else { return false }
    let letter = bytes[line.lowerBound]
    // A new letter does not change the version of the format, so readers skip unknown letters.
    guard Self.forms[letter] != nil else { return true }
    guard cursor.skip(letter), cursor.skipSpace() else { return false }
    switch letter {
    case UInt8(ascii: "F"):
      guard let frame = frame(&cursor) else { return false }
      frames.append(frame)
    case UInt8(ascii: "O"):
      // With one sink no O line is written: the F line has opened the only outcome already.
      guard let sink = cursor.word(), cursor.isAtEnd, !frames.isEmpty, header.sinks.count > 1,
        let index = header.sinks.firstIndex(of: sink)
      else { return false }
      frames[frames.count - 1].outcomes.append(.init(sink: index, lines: []))
    default:
      guard let fact = ResultLine(letter: letter, &cursor), cursor.isAtEnd,
        let last = frames.indices.last,
        let outcome = frames[last].outcomes.indices.last
      else { return false }
      frames[last].outcomes[outcome].lines.append(fact)
    }
    return true
  }

  private func frame(_ cursor: inout ByteCursor) -> ResultFrame? {
    guard var sequence = cursor.integer() else { return nil }
    var track = header.tracks.first?.index ?? 0
    if cursor.skip(UInt8(ascii: ":")) {
      track = sequence
      guard let rank = cursor.integer() else { return nil }
      sequence = rank
    }
    guard cursor.skipSpace() else { return nil }
    var pts: Int64?
    if !cursor.isSingleDash() {
      guard let value = cursor.integer() else { return nil }
      pts = Int64(value)
    }
    guard cursor.isAtEnd else { return nil }
    let outcomes = header.sinks.count == 1 ? [ResultFrame.Outcome(sink: 0, lines: [])] : []
    return ResultFrame(id: FrameID(track: track, sequence: sequence), pts: pts, outcomes: outcomes)
  }
}

extension ByteCursor {
  /// Skips a single `-` at the end of the line.
  fileprivate mutating func isSingleDash() -> Bool {
    var copy = self
    guard copy.skip(UInt8(ascii: "-")), copy.isAtEnd else { return false }
    self = copy
    return true
  }
}
