import RetakeCore
import RetakeMedia

/// A file of Foxglove's MCAP format.
///
/// Topics come from the summary at the file's end. If that is missing, damaged or incomplete, as in
/// a file that was cut, all records are read for them first.
final class MCAPBag: BagFile {
  let path: String
  var bytes: Int64 { file.size }
  private(set) var topics: [BagTopic] = []
  private(set) var isWhole = true
  private let file: MediaFile
  private var summary: MCAPSummary?

  /// - Parameter origin: The path in errors: the path of the compressed file, if there is one.
  /// - Throws: `BagError`.
  init(_ path: String, origin: String) throws {
    self.path = origin
    file = try Self.errors(at: path) { try MediaFile(path: path) }
    let head = try Self.errors(at: path) {
      try file.bytes(MCAPRecord.magic.count)
    }
    guard head == MCAPRecord.magic else {
      throw BagError.notBag(path: path, cause: "it does not begin like an MCAP file")
    }
    let magicBytes = MCAPRecord.magic.count
    let last = try Self.errors(at: path) {
      try file.bytes(magicBytes, at: max(0, file.size - Int64(magicBytes)))
    }
    // A file that contains only the magic has it once.
    isWhole = last == MCAPRecord.magic && file.size >= 2 * Int64(magicBytes)
    summary = try MCAPSummary(file)
    if let summary {
      topics = summary.topics
    } else {
      topics = try MCAPWalk(file: file, path: path, isSurvey: true).surveyed()
    }
  }

  func read(position: (Int64) throws -> Void, _ body: (BagItem) throws -> Void) throws {
    var walk = MCAPWalk(
      file: file, path: path, topics: topics, isSurvey: false,
      chunkStarts: summary?.chunkStarts ?? [])
    walk.dataEnd = summary?.dataEnd
    try walk.run(position: position, body)
    if let claimed = summary?.messages { try walk.requireMessages(claimed, body) }
  }

  static func errors<Value>(
    at path: String, _ body: () throws -> Value
  ) throws -> Value {
    do {
      return try body()
    } catch let error as MediaError {
      throw error.isAboutMemory
        ? BagError.memory(path: path) : .unreadable(path: path, cause: error.cause ?? error.message)
    }
  }
}

/// The summary section of an MCAP file.
struct MCAPSummary {
  private(set) var topics: [BagTopic] = []
  /// Positions of chunks, ascending.
  private(set) var chunkStarts: [UInt64] = []
  /// Where the data section ends, at the earliest.
  let dataEnd: UInt64
  private(set) var messages: UInt64?

  private static let bytesMax: UInt64 = 256 << 20

  /// - Returns: nil if the file has no complete summary.
  init?(_ file: MediaFile) throws {
    let size = UInt64(file.size)
    let tail = UInt64(MCAPRecord.footerBytes + MCAPRecord.magic.count)
    guard size >= tail + UInt64(MCAPRecord.magic.count) else { return nil }
    let end = size - tail
    let footerBytes = try MCAPBag.errors(at: file.path) {
      try file.bytes(Int(tail), at: Int64(end))
    }
    guard footerBytes.suffix(MCAPRecord.magic.count).elementsEqual(MCAPRecord.magic),
      let head = try? MCAPRecord.Head(footerBytes.prefix(MCAPRecord.headBytes)),
      head.opcode == MCAPRecord.Opcode.footer.rawValue, head.length == 20,
      let footer = try? MCAPRecord.Footer(footerBytes.dropFirst(MCAPRecord.headBytes)),
      footer.summaryStart > 0, footer.summaryStart <= end,
      end - footer.summaryStart <= Self.bytesMax
    else { return nil }
    dataEnd = footer.summaryStart
    // The checksum covers the footer up to itself (mcap.dev/spec, Footer).
    let covered = try MCAPBag.errors(at: file.path) {
      try file.bytes(Int(size - 12 - footer.summaryStart), at: Int64(footer.summaryStart))
    }
    guard footer.crc == 0 || CRC32.of(covered[...]) == footer.crc,
      (try? parse(covered.prefix(Int(end - footer.summaryStart)))) == true
    else { return nil }
  }

  /// - Returns: whether the summary names every channel.
  private mutating func parse(_ bytes: ArraySlice<UInt8>) throws -> Bool {
    var reader = BagByteReader(bytes)
    var (schemas, channels) = ([UInt16: MCAPRecord.Schema](), [MCAPRecord.Channel]())
    var statistics: MCAPRecord.Statistics?
    while !reader.isAtEnd {
      let head = try MCAPRecord.Head(try reader.take(MCAPRecord.headBytes))
      let content = try reader.take(Int(clamping: head.length))
      switch MCAPRecord.Opcode(rawValue: head.opcode) {
      case .schema:
        let schema = try MCAPRecord.Schema(content)
        schemas[schema.id] = schema
      case .channel: channels.append(try MCAPRecord.Channel(content))
      case .chunkIndex: chunkStarts.append(try MCAPRecord.ChunkIndex(content).offset)
      case .statistics: statistics = try MCAPRecord.Statistics(content)
      default: break
      }
    }
    chunkStarts.sort()
    guard let statistics, Int(statistics.channels) == channels.count else { return false }
    messages = statistics.messages
    for channel in channels {
      guard channel.schema == 0 || schemas[channel.schema] != nil else { return false }
      var topic = BagTopic(channel, schemas[channel.schema])
      topic.count = statistics.channelMessages[channel.id].map { Int64(clamping: $0) }
      if let place = topics.firstIndex(where: { $0.identity == topic.identity }) {
        // Several publishers of one topic.
        topics[place].count = topics[place].count.flatMap { known in topic.count.map { known + $0 }
        }
      } else {
        topics.append(topic)
      }
    }
    return true
  }
}

extension BagTopic {
  init(_ channel: MCAPRecord.Channel, _ schema: MCAPRecord.Schema?) {
    self.init(
      name: channel.topic, type: schema?.name ?? "", encoding: channel.encoding,
      schema: schema?.text ?? "", schemaEncoding: schema?.encoding ?? "")
  }
}
