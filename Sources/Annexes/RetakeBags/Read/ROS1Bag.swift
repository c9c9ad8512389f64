import RetakeCore
import RetakeMedia

/// A bag of ROS 1, version 2.0.
///
/// Topics come from the index at the file's end. If that is missing or damaged, as in a bag whose
/// recorder was killed, all chunks are read for them first.
final class ROS1Bag: BagFile {
  let path: String
  var bytes: Int64 { file.size }
  private(set) var topics: [BagTopic] = []
  private(set) var isWhole = false
  private let file: MediaFile
  private var chunkStarts: [UInt64] = []
  private var messages: UInt64?

  private static let indexBytesMax: UInt64 = 256 << 20

  /// - Throws: `BagError`.
  init(_ path: String) throws {
    self.path = path
    file = try MCAPBag.errors(at: path) { try MediaFile(path: path) }
    if (try? readIndex()) != true {
      (topics, chunkStarts, messages, isWhole) = ([], [], nil, false)
      topics = try ROS1Walk(file: file, path: path, isSurvey: true).surveyed()
    }
  }

  /// - Returns: whether the file has a complete index.
  private func readIndex() throws -> Bool {
    var walk = ROS1Walk(file: file, path: path, isSurvey: true)
    let start = try walk.indexPosition()
    let size = UInt64(file.size)
    guard start > 0, start <= size, size - start <= Self.indexBytesMax else { return false }
    let index = try MCAPBag.errors(at: path) {
      try file.bytes(Int(size - start), at: Int64(start))
    }
    var (reader, counts) = (BagByteReader(index[...]), [UInt32: Int64]())
    while !reader.isAtEnd {
      let record = try ROS1Record(try reader.sized())
      let data = try reader.sized()
      switch record.kind {
      case .connection: try walk.add(record, data)
      case .chunkInfo:
        chunkStarts.append(try record.integer("chunk_pos"))
        var part = BagByteReader(data)
        while !part.isAtEnd {
          let connection = try part.integer(UInt32.self)
          counts[connection, default: 0] += Int64(try part.integer(UInt32.self))
        }
      default: break
      }
    }
    topics = walk.input.topics
    for place in topics.indices { topics[place].count = 0 }
    for (connection, count) in counts {
      guard let topic = walk.connections[connection] else { return false }
      topics[topic].count = topics[topic].count.map { $0 + count }
    }
    chunkStarts.sort()
    messages = counts.values.reduce(0) { $0 + UInt64($1) }
    isWhole = true
    return true
  }

  func read(position: (Int64) throws -> Void, _ body: (BagItem) throws -> Void) throws {
    var walk = ROS1Walk(
      file: file, path: path, topics: topics, isSurvey: false, chunkStarts: chunkStarts)
    try walk.run(position: position, body)
    if let messages {
      try walk.requireMessages(messages, body)
    } else {
      let cause = "it has no index: its recorder did not end"
      try body(.loss(.damaged(BagPlace(file: path), cause: cause)))
    }
  }
}
