import RetakeMedia

/// Reads the records of a bag of ROS 1 from its beginning to its index.
///
/// Damage is a loss. Reading continues with the next chunk of the index, or stops without one; the
/// complete messages of a chunk that is cut by the end of the file are read.
struct ROS1Walk: RecordWalk {
  private(set) var input: RecordFile
  /// The topic of a connection.
  private(set) var connections: [UInt32: Int] = [:]
  private static let headerBytesMax: UInt64 = 64 << 20

  /// - Parameter chunkStarts: Positions of chunks, ascending.
  init(
    file: MediaFile, path: String, topics: [BagTopic] = [], isSurvey: Bool,
    chunkStarts: [UInt64] = []
  ) {
    input = RecordFile(
      file: file, path: path, topics: topics, isSurvey: isSurvey, start: ROS1Record.magic.count)
    input.chunkStarts = chunkStarts
  }

  /// Where the index begins; 0 in a bag whose recorder did not end.
  func indexPosition() throws -> UInt64 {
    let head = try head(at: input.position)
    guard let head, head.record.kind == .bagHeader else { return 0 }
    return try head.record.integer("index_pos")
  }

  mutating func run(
    position report: (Int64) throws -> Void, _ body: (BagItem) throws -> Void
  ) throws {
    try withoutActuallyEscaping(body) { body in
      input.body = body
      defer { input.body = { _ in } }
      let index = (try? indexPosition()) ?? 0
      // Ends: each record begins after the previous record.
      while input.position < input.size, index == 0 || input.position < index {
        try report(Int64(input.position))
        guard try step() else { return }
      }
    }
  }

  private struct Head {
    var record: ROS1Record
    /// Where the data begins, and its length.
    var data: UInt64
    var length: UInt64
  }

  /// - Returns: nil if the file ends, or is damaged there.
  private func head(at start: UInt64) throws -> Head? {
    guard input.size - start >= 8 else { return nil }
    let length = UInt64(try number(at: start))
    guard length <= Self.headerBytesMax, input.size - start >= 8 + length else { return nil }
    guard let record = try? ROS1Record(try input.bytes(length, at: start + 4)[...]) else {
      return nil
    }
    let data = start + 8 + length
    return Head(record: record, data: data, length: UInt64(try number(at: data - 4)))
  }

  private func number(at offset: UInt64) throws -> UInt32 {
    var reader = BagByteReader(try input.bytes(4, at: offset)[...])
    return try reader.integer()
  }

  /// Reads one record.
  ///
  /// - Returns: whether another record may follow.
  private mutating func step() throws -> Bool {
    let start = input.position
    guard let head = try head(at: start), let kind = head.record.kind else {
      return try input.lostTrack(start, "there is no record")
    }
    let left = input.size - head.data
    guard head.length <= left else {
      if kind == .chunk { try chunk(head, at: start, bytes: left) }
      return try input.lostTrack(
        start, "a \(kind.name) claims \(head.length) bytes, and \(left) are left")
    }
    input.position = head.data + head.length
    do {
      switch kind {
      case .chunk: try chunk(head, at: start, bytes: head.length)
      case .connection, .message:
        guard kind == .connection || !input.isSurvey else { break }
        try take(head.record, try input.bytes(head.length, at: head.data)[...], at: start)
      case .bagHeader, .index, .chunkInfo: break
      }
    } catch is BagByteReader.Short {
      try input.lose(start, "a \(kind.name) ends before its fields do")
    }
    return true
  }

  /// - Parameter count: The bytes of the chunk that the file has.
  private mutating func chunk(_ head: Head, at start: UInt64, bytes count: UInt64) throws {
    let expandedBytes = UInt64(try head.record.integer("size", UInt32.self))
    let bytesMax = MCAPWalk.chunkBytesMax(stored: count)
    guard max(count, expandedBytes) <= bytesMax else {
      return try input.body(
        .loss(
          .tooLarge(
            input.place(start), what: "a chunk",
            bytes: max(count, expandedBytes), bytesMax: bytesMax)))
    }
    let (isCut, stored) = (count < head.length, try input.bytes(count, at: head.data)[...])
    do {
      let compression = try Compression(try head.record.text("compression"))
      try records(
        isCut
          ? compression.beginning(stored, bytes: Int(expandedBytes))
          : compression.records(stored, bytes: Int(expandedBytes)),
        at: start, isCut: isCut)
    } catch let error as CompressionProblem {
      try input.lose(start, "a chunk cannot be decompressed: \(error.cause)")
    }
  }

  private mutating func records(
    _ bytes: ArraySlice<UInt8>, at start: UInt64, isCut: Bool
  ) throws {
    var reader = BagByteReader(bytes)
    while !reader.isAtEnd {
      guard let header = try? reader.sized(), let data = try? reader.sized() else {
        if !isCut { try input.lose(start, "a record in a chunk is longer than the chunk") }
        return
      }
      do {
        try take(try ROS1Record(header), data, at: start)
      } catch is BagByteReader.Short {
        try input.lose(start, "a record in a chunk ends before its fields do")
      }
    }
  }

  private mutating func take(
    _ record: ROS1Record, _ data: ArraySlice<UInt8>, at start: UInt64
  ) throws {
    switch record.kind {
    case .connection: try add(record, data)
    case .message: if !input.isSurvey { try message(record, data, at: start) }
    // The format has no other records in a chunk.
    default: break
    }
  }

  mutating func add(_ record: ROS1Record, _ data: ArraySlice<UInt8>) throws {
    let topic = try record.topic(data)
    let connection: UInt32 = try record.integer("conn")
    connections[connection] = input.number(of: topic)
  }

  private mutating func message(
    _ record: ROS1Record, _ data: ArraySlice<UInt8>, at start: UInt64
  ) throws {
    let connection: UInt32 = try record.integer("conn")
    guard let topic = connections[connection] else {
      return try input.lose(
        start, "a message has the connection \(connection), which is not defined")
    }
    let place = input.placeOfMessage(topic, at: start)
    try input.body(
      .message(
        BagMessage(
          topic: topic, logNanoseconds: try record.time("time"), publishNanoseconds: nil,
          bytes: data, place: place)))
  }
}
