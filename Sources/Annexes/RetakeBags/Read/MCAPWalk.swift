import RetakeMedia

/// Reads the records of an MCAP file from its beginning to the end of its data section.
///
/// Damage is a loss, and reading continues after it if possible:
///
/// - after a chunk whose checksum is wrong, with the next record;
/// - after a record whose length is wrong, with the next chunk in the summary; without such a
///   chunk, reading stops;
/// - in a chunk that is cut by the end of the file, the complete messages are read.
struct MCAPWalk: RecordWalk {
  private(set) var input: RecordFile
  /// Where the summary begins, if it is known.
  var dataEnd: UInt64?
  private var schemas: [UInt16: MCAPRecord.Schema] = [:]
  /// The topic of a channel.
  private var channels: [UInt16: Int] = [:]
  /// The checksum of the data section; nil if chunks have checksums of their own.
  private var running: CRC32? = CRC32()

  private static let chunkBytesMax: UInt64 = 1 << 30
  private static let chunkRatioMax: UInt64 = 1_000
  private static let smallChunkBytesMax: UInt64 = 256 << 20
  static let recordBytesMax: UInt64 = 1 << 30
  private static let definitionBytesMax: UInt64 = 64 << 20

  /// The largest size of a chunk that is decompressed: a small file must not need all memory.
  ///
  /// - Parameter stored: Bytes of the chunk in the file.
  static func chunkBytesMax(stored: UInt64) -> UInt64 {
    let (bytes, overflow) = stored.multipliedReportingOverflow(by: chunkRatioMax)
    return overflow ? chunkBytesMax : min(chunkBytesMax, max(smallChunkBytesMax, bytes))
  }

  /// - Parameter chunkStarts: Positions of chunks, ascending.
  init(
    file: MediaFile, path: String, topics: [BagTopic] = [], isSurvey: Bool,
    chunkStarts: [UInt64] = []
  ) {
    input = RecordFile(
      file: file, path: path, topics: topics, isSurvey: isSurvey, start: MCAPRecord.magic.count)
    input.chunkStarts = chunkStarts
  }

  mutating func run(
    position report: (Int64) throws -> Void, _ body: (BagItem) throws -> Void
  ) throws {
    try withoutActuallyEscaping(body) { body in
      input.body = body
      defer { input.body = { _ in } }
      running?.update(with: MCAPRecord.magic[...])
      // Ends: each record begins after the previous record.
      while input.position < input.size {
        try report(Int64(input.position))
        guard try step() else { return }
      }
      // A file that ends here lost its end, because a complete file has a footer.
      try input.lose(input.size, "the file ends without its footer")
    }
  }

  /// Reads one record.
  ///
  /// - Returns: whether another record may follow.
  private mutating func step() throws -> Bool {
    let start = input.position
    let headBytes = UInt64(MCAPRecord.headBytes)
    guard input.size - start >= headBytes else {
      return try lostTrack(start, "\(input.size - start) bytes are left, fewer than a record has")
    }
    let headPart = try input.bytes(headBytes, at: start)
    let head = try MCAPRecord.Head(headPart[...])
    let (content, left) = (start + headBytes, input.size - start - headBytes)
    let kind = MCAPRecord.Opcode(rawValue: head.opcode)
    guard kind != .footer, kind != .dataEnd else { return try finish(kind, content, head, left) }
    guard head.opcode != 0, head.length <= left else {
      if kind == .chunk { try cutChunk(start, content, left) }
      return try lostTrack(
        start,
        head.opcode == 0
          ? "there is no record"
          : "a \(head.name) claims \(head.length) bytes, and \(left) are left")
    }
    input.position = content + head.length
    try take(head, kind, headPart, start: start, content: content)
    return true
  }

  private mutating func take(
    _ head: MCAPRecord.Head, _ kind: MCAPRecord.Opcode?, _ headPart: [UInt8], start: UInt64,
    content: UInt64
  ) throws {
    if kind == .chunk { running = nil }
    let isWanted = kind == .schema || kind == .channel || kind == .chunk || kind == .message
    let limit = kind == .chunk || kind == .message ? Self.recordBytesMax : Self.definitionBytesMax
    guard isWanted, !(input.isSurvey && kind == .message) else {
      return try skip(head, headPart, content)
    }
    guard head.length <= limit else {
      running = nil
      return try input.body(
        .loss(
          .tooLarge(
            input.place(start), what: "a \(head.name)", bytes: head.length, bytesMax: limit)))
    }
    let record = try input.bytes(head.length, at: content)
    running?.update(with: headPart[...])
    running?.update(with: record[...])
    do {
      if kind == .chunk {
        try chunk(record[...], at: start)
      } else {
        try definitionOrMessage(kind, record[...], at: start)
      }
    } catch is BagByteReader.Short {
      try input.lose(start, "a \(head.name) ends before its fields do")
    }
  }

  /// Passes over a record, whose bytes count for the checksum of the data section.
  private mutating func skip(
    _ head: MCAPRecord.Head, _ headPart: [UInt8], _ content: UInt64
  ) throws {
    guard running != nil, !input.isSurvey else { return }
    running?.update(with: headPart[...])
    var next = content
    while next < input.position {
      let piece = try input.bytes(min(input.position - next, 1 << 20), at: next)
      running?.update(with: piece[...])
      next += UInt64(piece.count)
    }
  }

  private mutating func lostTrack(_ start: UInt64, _ cause: String) throws -> Bool {
    running = nil
    return try input.lostTrack(start, cause)
  }

  private mutating func finish(
    _ kind: MCAPRecord.Opcode?, _ content: UInt64, _ head: MCAPRecord.Head, _ left: UInt64
  ) throws -> Bool {
    guard kind == .dataEnd, head.length >= 4, left >= 4, !input.isSurvey else { return false }
    var reader = BagByteReader(try input.bytes(4, at: content)[...])
    let crc = try reader.integer(UInt32.self)
    guard crc != 0, let running, running.value != crc else { return false }
    try input.lose(
      content - UInt64(MCAPRecord.headBytes),
      "the checksum of the data is \(running.value), not \(crc): a message may be damaged")
    return false
  }

  // MARK: Chunks

  private mutating func chunk(_ content: ArraySlice<UInt8>, at start: UInt64) throws {
    var reader = BagByteReader(content)
    let chunk = try MCAPRecord.Chunk(&reader)
    guard chunk.recordsBytes == UInt64(reader.remaining) else {
      return try input.lose(
        start, "a chunk claims \(chunk.recordsBytes) bytes of records, and has \(reader.remaining)")
    }
    let bytesMax = Self.chunkBytesMax(stored: chunk.recordsBytes)
    guard chunk.uncompressedBytes <= bytesMax else {
      return try input.body(
        .loss(
          .tooLarge(
            input.place(start), what: "a chunk", bytes: chunk.uncompressedBytes,
            bytesMax: bytesMax)))
    }
    let records: ArraySlice<UInt8>
    do {
      records = try Compression(chunk.compression).records(
        reader.rest, bytes: Int(chunk.uncompressedBytes))
    } catch let error as CompressionProblem {
      return try input.lose(start, "a chunk cannot be decompressed: \(error.cause)")
    }
    // 0 says that there is no checksum (mcap.dev/spec, Chunk).
    let crc = chunk.crc == 0 ? 0 : CRC32.of(records)
    guard chunk.crc == crc else {
      return try input.lose(
        start, "the checksum of a chunk is \(crc), not \(chunk.crc): it is left out")
    }
    try self.records(records, at: start, isCut: false)
  }

  /// Reads the complete messages of a chunk that is cut by the end of the file. If only the length
  /// of the record is wrong, the chunk is complete.
  private mutating func cutChunk(_ start: UInt64, _ content: UInt64, _ left: UInt64) throws {
    guard left <= Self.recordBytesMax else { return }
    let record = try input.bytes(left, at: content)
    var reader = BagByteReader(record[...])
    guard let chunk = try? MCAPRecord.Chunk(&reader),
      chunk.uncompressedBytes <= Self.chunkBytesMax(stored: left),
      let compression = try? Compression(chunk.compression)
    else { return }
    let stored = reader.rest.prefix(Int(clamping: chunk.recordsBytes))
    let part = compression.beginning(stored, bytes: Int(chunk.uncompressedBytes))
    // A complete chunk is compared with its checksum; a part of a chunk cannot be checked.
    let isWhole = part.count == Int(chunk.uncompressedBytes)
    guard !isWhole || chunk.crc == 0 || chunk.crc == CRC32.of(part) else { return }
    try records(part, at: start, isCut: true)
  }

  private mutating func records(
    _ bytes: ArraySlice<UInt8>, at start: UInt64, isCut: Bool
  ) throws {
    var reader = BagByteReader(bytes)
    while !reader.isAtEnd {
      guard let headPart = try? reader.take(MCAPRecord.headBytes),
        let head = try? MCAPRecord.Head(headPart),
        let content = try? reader.take(Int(clamping: head.length))
      else {
        if !isCut { try input.lose(start, "a record in a chunk is longer than the chunk") }
        return
      }
      let kind = MCAPRecord.Opcode(rawValue: head.opcode)
      do {
        switch kind {
        case .schema, .channel, .message: try definitionOrMessage(kind, content, at: start)
        case .chunk: try input.lose(start, "a chunk has a chunk inside, which is left out")
        // The format allows no other records in a chunk, and readers may skip unknown records.
        default: break
        }
      } catch is BagByteReader.Short {
        try input.lose(start, "a \(head.name) in a chunk ends before its fields do")
      }
    }
  }

  // MARK: Records

  private mutating func definitionOrMessage(
    _ kind: MCAPRecord.Opcode?, _ content: ArraySlice<UInt8>, at start: UInt64
  ) throws {
    switch kind {
    case .schema:
      let schema = try MCAPRecord.Schema(content)
      schemas[schema.id] = schema
    case .channel: add(try MCAPRecord.Channel(content))
    case .message: try message(try MCAPRecord.Message(content), at: start)
    default: break
    }
  }

  private mutating func add(_ channel: MCAPRecord.Channel) {
    channels[channel.id] = input.number(of: BagTopic(channel, schemas[channel.schema]))
  }

  private mutating func message(_ message: MCAPRecord.Message, at start: UInt64) throws {
    guard !input.isSurvey else { return }
    guard let topic = channels[message.channel] else {
      return try input.lose(
        start, "a message has the channel \(message.channel), which is not defined")
    }
    let place = input.placeOfMessage(topic, at: start)
    guard let time = Int64(exactly: message.logTime) else {
      return try input.body(
        .loss(.damaged(place, cause: "its log time \(message.logTime) is after the year 2262")))
    }
    try input.body(
      .message(
        BagMessage(
          topic: topic, logNanoseconds: time,
          publishNanoseconds: Int64(exactly: message.publishTime),
          bytes: message.data, place: place)))
  }
}
