import RetakeCore
import RetakeMedia

/// A file of records while it is read, as MCAP files and bags of ROS 1 are: its bytes, its topics,
/// and what happens at damage.
struct RecordFile {
  let file: MediaFile
  /// The path that errors name.
  let path: String
  private(set) var topics: [BagTopic]
  /// Whether only topics are wanted.
  let isSurvey: Bool
  /// Positions of chunks, ascending; empty if they are not known.
  var chunkStarts: [UInt64] = []
  /// Where the next record begins.
  var position: UInt64
  var body: (BagItem) throws -> Void = { _ in }
  private(set) var messageCount: UInt64 = 0

  /// By its name, type and encoding.
  private var numbers: [String: Int] = [:]
  /// Messages of each topic so far.
  private var counts: [Int]

  /// - Parameter start: Where the first record begins.
  init(file: MediaFile, path: String, topics: [BagTopic], isSurvey: Bool, start: Int) {
    (self.file, self.path) = (file, path)
    (self.topics, self.isSurvey, position) = (topics, isSurvey, UInt64(start))
    for (place, topic) in topics.enumerated() { numbers[topic.identity] = place }
    counts = [Int](repeating: 0, count: topics.count)
  }

  var size: UInt64 { UInt64(file.size) }

  func place(_ offset: UInt64) -> BagPlace { BagPlace(file: path, byteOffset: offset) }

  func lose(_ offset: UInt64, _ cause: String) throws {
    try body(.loss(.damaged(place(offset), cause: cause)))
  }

  func bytes(_ count: UInt64, at offset: UInt64) throws -> [UInt8] {
    try MCAPBag.errors(at: path) { try file.bytes(Int(count), at: Int64(offset)) }
  }

  /// The number of a topic, which is new unless its name, type and encoding are known.
  mutating func number(of topic: BagTopic) -> Int {
    if let known = numbers[topic.identity] { return known }
    numbers[topic.identity] = topics.count
    topics.append(topic)
    counts.append(0)
    return topics.count - 1
  }

  /// Counts a message.
  ///
  /// - Parameter offset: Of its record, or of the chunk that has it.
  mutating func placeOfMessage(_ topic: Int, at offset: UInt64) -> BagPlace {
    messageCount += 1
    defer { counts[topic] += 1 }
    return BagPlace(
      file: path, byteOffset: offset, topic: topics[topic].name, message: Int64(counts[topic]))
  }

  /// Continues at the next chunk that the index names.
  ///
  /// - Returns: whether there is one.
  mutating func lostTrack(_ start: UInt64, _ cause: String) throws -> Bool {
    guard let next = chunkStarts.first(where: { $0 > start && $0 < size }) else {
      try lose(start, cause + "; nothing behind it is read")
      return false
    }
    try lose(start, cause + "; reading continues with the chunk at byte \(next)")
    position = next
    return true
  }
}

/// Reads the records of one format.
protocol RecordWalk {
  var input: RecordFile { get }
  mutating func run(
    position report: (Int64) throws -> Void, _ body: (BagItem) throws -> Void
  ) throws
}

extension RecordWalk {
  /// The topics of a file without an index. Losses are reported when the messages are read.
  func surveyed() throws -> [BagTopic] {
    var walk = self
    do {
      try walk.run(position: { _ in }) { _ in }
    } catch let error as BagError {
      throw error
    } catch {
      throw BagError.unreadable(path: input.path, cause: error.causeText)
    }
    return walk.input.topics
  }

  /// Passes on the loss of messages that the file claims and that were not read.
  func requireMessages(_ claimed: UInt64, _ body: (BagItem) throws -> Void) throws {
    guard claimed > input.messageCount else { return }
    try body(
      .loss(
        .damaged(
          BagPlace(file: input.path),
          cause: "\(input.messageCount) of \(counted(claimed, "message")) could be read")))
  }
}
