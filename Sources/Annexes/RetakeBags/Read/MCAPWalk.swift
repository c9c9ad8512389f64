import RetakeMedia

/// Reads the records of an MCAP file from its beginning to the end of its data section.
///
/// Damage is a loss, and reading continues after it if possible:
///
/// - after a chunk whose checksum is wrong, with the next record;
/// - after a record whose length is wrong, with the next chunk in the summary; without such a
///   chunk, reading stops;
/// - in a chunk that is cut by the end of the file, the complete messages are read.
struct MCAPWalk {
  let file: MediaFile
  /// The path that errors name.
  let path: String
  private(set) var topics: [BagTopic]
  /// Whether only topics are wanted.
  let isSurvey: Bool
  var chunkStarts: [UInt64] = []
  /// Where the summary begins, if it is known.
  var dataEnd: UInt64?
  private(set) var messageCount: UInt64 = 0

  /// By its name, type and encoding.
  private var numbers: [String: Int] = [:]
  private var schemas: [UInt16: MCAPRecord.Schema] = [:]
  /// The topic of a channel.
  private var channels: [UInt16: Int] = [:]
  /// Messages of each topic so far.
  private var counts: [Int]
  private var position: UInt64
  private var body: (BagItem) throws -> Void = { _ in }
  /// The checksum of the data section; nil if chunks have checksums of their own.
  private var running: CRC32? = CRC32()

  static let chunkBytesMax: UInt64 = 1 << 30
  static let recordBytesMax: UInt64 = 1 << 30
  private static let definitionBytesMax: UInt64 = 64 << 20

  init(file: MediaFile, path: String, topics: [BagTopic], isSurvey: Bool) {
    (self.file, self.path) = (file, path)
    (self.topics, self.isSurvey) = (topics, isSurvey)
    for (place, topic) in topics.enumerated() { numbers[topic.identity] = place }
    counts = [Int](repeating: 0, count: topics.count)
    position = UInt64(MCAPRecord.magic.count)
  }

  private var size: UInt64 { UInt64(file.size) }

  private func place(_ offset: UInt64) -> BagPlace { BagPlace(file: path, byteOffset: offset) }

  private func lose(_ offset: UInt64, _ cause: String) throws {
    try body(.loss(.damaged(place(offset), cause: cause)))
  }

  mutating func run(
    position report: (Int64) throws -> Void, _ body: (BagItem) throws -> Void
  ) throws {
    try withoutActuallyEscaping(body) { body in
      self.body = body
      defer { self.body = { _ in } }
      running?.update(with: MCAPRecord.magic[...])
      // Ends: each record begins after the previous record.
      while position < size {
        try report(Int64(position))
        guard try step() else { return }
      }
      // A file that ends here lost its end, because a complete file has a footer.
      try lose(size, "the file ends without its footer")
    }
  }

  private func bytes(_ count: UInt64, at offset: UInt64) throws -> [UInt8] {
    try MCAPBag.errors(at: path) {
      try file.bytes(Int(count), at: Int64(offset))
    }
  }

  /// Reads one record.
  ///
  /// - Returns: whether another record may follow.
  private mutating func step() throws -> Bool {
    let start = position
    let headBytes = UInt64(MCAPRecord.headBytes)
    guard size - start >= headBytes else {
      return try lostTrack(start, "\(size - start) bytes are left, fewer than a record has")
    }
    let headPart = try bytes(headBytes, at: start)
    let head = try MCAPRecord.Head(headPart[...])
    let (content, left) = (start + headBytes, size - start - headBytes)
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
    position = content + head.length
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
    guard isWanted, !(isSurvey && kind == .message) else {
      return try skip(head, headPart, content)
    }
    guard head.length <= limit else {
      running = nil
      return try body(
        .loss(
          .tooLarge(place(start), what: "a \(head.name)", bytes: head.length, bytesMax: limit)))
    }
    let record = try bytes(head.length, at: content)
    running?.update(with: headPart[...])
    running?.update(with: record[...])
    do {
      if kind == .chunk {
        try chunk(record[...], at: start)
      } else {
        try definitionOrMessage(kind, record[...], at: start)
      }
    } catch is BagByteReader.Short {
      try lose(start, "a \(head.name) ends before its fields do")
    }
  }

  /// Passes over a record, whose bytes count for the checksum of the data section.
  private mutating func skip(
    _ head: MCAPRecord.Head, _ headPart: [UInt8], _ content: UInt64
  ) throws {
    guard running != nil, !isSurvey else { return }
    running?.update(with: headPart[...])
    var next = content
    while next < position {
      let piece = try bytes(min(position - next, 1 << 20), at: next)
      running?.update(with: piece[...])
      next += UInt64(piece.count)
    }
  }

  /// Continues at the next chunk that the summary names.
  private mutating func lostTrack(_ start: UInt64, _ cause: String) throws -> Bool {
    running = nil
    guard let next = chunkStarts.first(where: { $0 > start && $0 < size }) else {
      try lose(start, cause + "; nothing behind it is read")
      return false
    }
    try lose(start, cause + "; reading continues with the chunk at byte \(next)")
    position = next
    return true
  }

  private mutating func finish(
    _ kind: MCAPRecord.Opcode?, _ content: UInt64, _ head: MCAPRecord.Head, _ left: UInt64
  ) throws -> Bool {
    guard kind == .dataEnd, head.length >= 4, left >= 4, !isSurvey else { return false }
    var reader = BagByteReader(try bytes(4, at: content)[...])
    let crc = try reader.integer(UInt32.self)
    guard crc != 0, let running, running.value != crc else { return false }
    try lose(
      content - UInt64(MCAPRecord.headBytes),
      "the checksum of the data is \(running.value), not \(crc): a message may be damaged")
    return false
  }

  // MARK: Chunks

  private mutating func chunk(_ content: ArraySlice<UInt8>, at start: UInt64) throws {
    var reader = BagByteReader(content)
    let chunk = try MCAPRecord.Chunk(&reader)
    guard chunk.recordsBytes == UInt64(reader.remaining) else {
      return try lose(
        start, "a chunk claims \(chunk.recordsBytes) bytes of records, and has \(reader.remaining)")
    }
    guard chunk.uncompressedBytes <= Self.chunkBytesMax else {
      return try body(
        .loss(
          .tooLarge(
            place(start), what: "a chunk", bytes: chunk.uncompressedBytes,
            bytesMax: Self.chunkBytesMax)))
    }
    let records: ArraySlice<UInt8>
    do {
      records = try Compression(chunk.compression).records(
        reader.rest, bytes: Int(chunk.uncompressedBytes))
    } catch let error as CompressionProblem {
      return try lose(start, "a chunk cannot be decompressed: \(error.cause)")
    }
    // 0 says that there is no checksum (mcap.dev/spec, Chunk).
    let crc = chunk.crc == 0 ? 0 : CRC32.of(records)
    guard chunk.crc == crc else {
      return try lose(start, "the checksum of a chunk is \(crc), not \(chunk.crc): it is left out")
    }
    try self.records(records, at: start, isCut: false)
  }

  /// Reads the complete messages of a chunk that is cut by the end of the file. If only the length
  /// of the record is wrong, the chunk is complete.
  private mutating func cutChunk(_ start: UInt64, _ content: UInt64, _ left: UInt64) throws {
    guard left <= Self.recordBytesMax else { return }
    let record = try bytes(left, at: content)
    var reader = BagByteReader(record[...])
    guard let chunk = try? MCAPRecord.Chunk(&reader), chunk.uncompressedBytes <= Self.chunkBytesMax,
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
        if !isCut { try lose(start, "a record in a chunk is longer than the chunk") }
        return
      }
      let kind = MCAPRecord.Opcode(rawValue: head.opcode)
      do {
        switch kind {
        case .schema, .channel, .message: try definitionOrMessage(kind, content, at: start)
        case .chunk: try lose(start, "a chunk has a chunk inside, which is left out")
        // The format allows no other records in a chunk, and readers may skip unknown records.
        default: break
        }
      } catch is BagByteReader.Short {
        try lose(start, "a \(head.name) in a chunk ends before its fields do")
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
    let topic = BagTopic(channel, schemas[channel.schema])
    if let known = numbers[topic.identity] {
      channels[channel.id] = known
      return
    }
    numbers[topic.identity] = topics.count
    channels[channel.id] = topics.count
    topics.append(topic)
    counts.append(0)
  }

  private mutating func message(_ message: MCAPRecord.Message, at start: UInt64) throws {
    guard !isSurvey else { return }
    guard let topic = channels[message.channel] else {
      return try lose(start, "a message has the channel \(message.channel), which is not defined")
    }
    messageCount += 1
    let place = BagPlace(
      file: path, byteOffset: start, topic: topics[topic].name, message: Int64(counts[topic]))
    counts[topic] += 1
    guard let time = Int64(exactly: message.logTime) else {
      return try body(
        .loss(.damaged(place, cause: "its log time \(message.logTime) is after the year 2262")))
    }
    try body(
      .message(
        BagMessage(
          topic: topic, logNanoseconds: time,
          publishNanoseconds: Int64(exactly: message.publishTime),
          bytes: message.data, place: place)))
  }
}
