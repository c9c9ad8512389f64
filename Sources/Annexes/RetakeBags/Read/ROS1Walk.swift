import RetakeMedia

/// Reads the records of a bag of ROS 1 from its beginning to its index.
///
/// Damage is a loss. Reading continues with the next chunk of the index, or stops without one; the
/// complete messages of a chunk that is cut by the end of the file are read.
struct ROS1Walk {
  let file: MediaFile
  /// The path that errors name.
  let path: String
  private(set) var topics: [BagTopic]
  /// Whether only topics are wanted.
  let isSurvey: Bool
  /// Positions of chunks, ascending; empty if they are not known.
  var chunkStarts: [UInt64] = []
  private(set) var messageCount: Int64 = 0
  /// The topic of a connection.
  private(set) var connections: [UInt32: Int] = [:]

  /// By its name, type and encoding.
  private var numbers: [String: Int] = [:]
  /// Messages of each topic so far.
  private var counts: [Int]
  private var position = UInt64(ROS1Record.magic.count)
  private var body: (BagItem) throws -> Void = { _ in }

  private static let headerBytesMax: UInt64 = 64 << 20

  init(file: MediaFile, path: String, topics: [BagTopic], isSurvey: Bool) {
    (self.file, self.path) = (file, path)
    (self.topics, self.isSurvey) = (topics, isSurvey)
    for (place, topic) in topics.enumerated() { numbers[topic.identity] = place }
    counts = [Int](repeating: 0, count: topics.count)
  }

  private var size: UInt64 { UInt64(file.size) }

  private func bytes(_ count: UInt64, at offset: UInt64) throws -> [UInt8] {
    try MCAPBag.errors(at: path) { try file.bytes(Int(count), at: Int64(offset)) }
  }

  private func lose(_ offset: UInt64, _ cause: String) throws {
    try body(.loss(.damaged(BagPlace(file: path, byteOffset: offset), cause: cause)))
  }

  /// Where the index begins; 0 in a bag whose recorder did not end.
  func indexPosition() throws -> UInt64 {
    let head = try head(at: position)
    guard let head, head.record.kind == .bagHeader else { return 0 }
    return try head.record.integer("index_pos")
  }

  mutating func run(
    position report: (Int64) throws -> Void, _ body: (BagItem) throws -> Void
  ) throws {
    try withoutActuallyEscaping(body) { body in
      self.body = body
      defer { self.body = { _ in } }
      let index = (try? indexPosition()) ?? 0
      // Ends: each record begins after the previous record.
      while position < size, index == 0 || position < index {
        try report(Int64(position))
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
    guard size - start >= 8 else { return nil }
    let length = UInt64(try number(at: start))
    guard length <= Self.headerBytesMax, size - start >= 8 + length else { return nil }
    guard let record = try? ROS1Record(try bytes(length, at: start + 4)[...]) else { return nil }
    let data = start + 8 + length
    return Head(record: record, data: data, length: UInt64(try number(at: data - 4)))
  }

  private func number(at offset: UInt64) throws -> UInt32 {
    var reader = BagByteReader(try bytes(4, at: offset)[...])
    return try reader.integer()
  }

  /// Reads one record.
  ///
  /// - Returns: whether another record may follow.
  private mutating func step() throws -> Bool {
    let start = position
    guard let head = try head(at: start), let kind = head.record.kind else {
      return try lostTrack(start, "there is no record")
    }
    let left = size - head.data
    guard head.length <= left else {
      if kind == .chunk { try chunk(head, at: start, bytes: left) }
      return try lostTrack(
        start, "a \(kind.name) claims \(head.length) bytes, and \(left) are left")
    }
    position = head.data + head.length
    do {
      switch kind {
      case .chunk: try chunk(head, at: start, bytes: head.length)
      case .connection, .message:
        guard kind == .connection || !isSurvey else { break }
        try take(head.record, try bytes(head.length, at: head.data)[...], at: start)
      case .bagHeader, .index, .chunkInfo: break
      }
    } catch is BagByteReader.Short {
      try lose(start, "a \(kind.name) ends before its fields do")
    }
    return true
  }

  /// Continues at the next chunk that the index names.
  private mutating func lostTrack(_ start: UInt64, _ cause: String) throws -> Bool {
    guard let next = chunkStarts.first(where: { $0 > start && $0 < size }) else {
      try lose(start, cause + "; nothing behind it is read")
      return false
    }
    try lose(start, cause + "; reading continues with the chunk at byte \(next)")
    position = next
    return true
  }

  /// - Parameter count: The bytes of the chunk that the file has.
  private mutating func chunk(_ head: Head, at start: UInt64, bytes count: UInt64) throws {
    let expandedBytes = UInt64(try head.record.integer("size", UInt32.self))
    guard max(count, expandedBytes) <= MCAPWalk.chunkBytesMax else {
      return try body(
        .loss(
          .tooLarge(
            BagPlace(file: path, byteOffset: start), what: "a chunk",
            bytes: max(count, expandedBytes), bytesMax: MCAPWalk.chunkBytesMax)))
    }
    let (isCut, stored) = (count < head.length, try bytes(count, at: head.data)[...])
    do {
      let compression = try Compression(try head.record.text("compression"))
      try records(
        isCut
          ? compression.beginning(stored, bytes: Int(expandedBytes))
          : compression.records(stored, bytes: Int(expandedBytes)),
        at: start, isCut: isCut)
    } catch let error as CompressionProblem {
      try lose(start, "a chunk cannot be decompressed: \(error.cause)")
    }
  }

  private mutating func records(
    _ bytes: ArraySlice<UInt8>, at start: UInt64, isCut: Bool
  ) throws {
    var reader = BagByteReader(bytes)
    while !reader.isAtEnd {
      guard let header = try? reader.sized(), let data = try? reader.sized() else {
        if !isCut { try lose(start, "a record in a chunk is longer than the chunk") }
        return
      }
      do {
        try take(try ROS1Record(header), data, at: start)
      } catch is BagByteReader.Short {
        try lose(start, "a record in a chunk ends before its fields do")
      }
    }
  }

  private mutating func take(
    _ record: ROS1Record, _ data: ArraySlice<UInt8>, at start: UInt64
  ) throws {
    switch record.kind {
    case .connection: try add(record, data)
    case .message: if !isSurvey { try message(record, data, at: start) }
    // The format has no other records in a chunk.
    default: break
    }
  }

  mutating func add(_ record: ROS1Record, _ data: ArraySlice<UInt8>) throws {
    let topic = try record.topic(data)
    let connection: UInt32 = try record.integer("conn")
    if let known = numbers[topic.identity] {
      connections[connection] = known
      return
    }
    numbers[topic.identity] = topics.count
    connections[connection] = topics.count
    topics.append(topic)
    counts.append(0)
  }

  private mutating func message(
    _ record: ROS1Record, _ data: ArraySlice<UInt8>, at start: UInt64
  ) throws {
    let connection: UInt32 = try record.integer("conn")
    guard let topic = connections[connection] else {
      return try lose(start, "a message has the connection \(connection), which is not defined")
    }
    messageCount += 1
    let place = BagPlace(
      file: path, byteOffset: start, topic: topics[topic].name, message: Int64(counts[topic]))
    counts[topic] += 1
    try body(
      .message(
        BagMessage(
          topic: topic, logNanoseconds: try record.time("time"), publishNanoseconds: nil,
          bytes: data, place: place)))
  }
}
