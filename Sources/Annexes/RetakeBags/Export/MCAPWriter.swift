import Foundation
import RetakeCore
import RetakeSession

/// Writes an MCAP file with chunks, their indexes and a summary (mcap.dev/spec).
///
/// Chunks are not compressed, because images are. Messages are written in the given order.
final class MCAPWriter {
  private let path: String
  private let handle: FileHandle
  private var position: UInt64 = 0
  private var schemas: [(name: String, encoding: String, text: String)] = []
  private var channels: [Channel] = []
  private var chunk = BagByteWriter()
  private var chunkTimes: (first: UInt64, last: UInt64)?
  /// By channel: the times and places of the messages in the open chunk.
  private var index: [[(time: UInt64, offset: UInt64)]] = []
  private var chunkIndexes: [[UInt8]] = []
  private var times: (first: UInt64, last: UInt64)?

  private struct Channel {
    var topic: String
    var encoding: String
    var schema: UInt16
    var count: UInt64 = 0
  }

  /// Large enough that few chunks are made, small enough to be kept in memory.
  private static let chunkBytes = 4 << 20

  /// - Parameter handle: Open for writing, at its beginning. It is not closed.
  init(_ handle: FileHandle, path: String) throws {
    (self.handle, self.path) = (handle, path)
    try write(MCAPRecord.magic)
    var header = BagByteWriter()
    // No profile: topics of ROS 2 and Foxglove's JSON are in one file.
    header.string("")
    header.string("retake")
    try write(Self.record(.header, header.bytes))
  }

  private static func record(_ opcode: MCAPRecord.Opcode, _ content: [UInt8]) -> [UInt8] {
    var record = BagByteWriter()
    record.integer(opcode.rawValue)
    record.integer(UInt64(content.count))
    record.append(content)
    return record.bytes
  }

  private func write(_ bytes: [UInt8]) throws {
    do {
      try handle.write(contentsOf: Data(bytes))
      position += UInt64(bytes.count)
    } catch {
      throw SessionError.write(path, error)
    }
  }

  /// Adds a topic.
  ///
  /// - Returns: the channel number for messages of this topic.
  func add(
    topic: String, encoding: String, type: String, schemaEncoding: String, schema: String
  ) -> Int {
    let number: UInt16
    if let known = schemas.firstIndex(where: { $0.name == type && $0.text == schema }) {
      number = UInt16(known + 1)
    } else {
      schemas.append((type, schemaEncoding, schema))
      // 0 is for channels without a schema.
      number = UInt16(schemas.count)
      chunk.append(Self.record(.schema, schemaContent(schemas.count - 1)))
    }
    channels.append(Channel(topic: topic, encoding: encoding, schema: number))
    index.append([])
    chunk.append(Self.record(.channel, channelContent(channels.count - 1)))
    return channels.count - 1
  }

  private func schemaContent(_ place: Int) -> [UInt8] {
    var content = BagByteWriter()
    content.integer(UInt16(place + 1))
    content.string(schemas[place].name)
    content.string(schemas[place].encoding)
    content.string(schemas[place].text)
    return content.bytes
  }

  private func channelContent(_ place: Int) -> [UInt8] {
    var content = BagByteWriter()
    content.integer(UInt16(place))
    content.integer(channels[place].schema)
    content.string(channels[place].topic)
    content.string(channels[place].encoding)
    content.integer(UInt32(0))
    return content.bytes
  }

  /// All topics, in the order in which they were added.
  var topics: [BagExporter.Topic] {
    channels.map { channel in
      BagExporter.Topic(
        topic: channel.topic, type: schemas[Int(channel.schema) - 1].name,
        messages: Int(channel.count))
    }
  }

  /// - Parameter time: Nanoseconds since 1970; of the log and of the publication.
  func add(_ data: [UInt8], channel: Int, time: UInt64) throws {
    var content = BagByteWriter()
    content.integer(UInt16(channel))
    content.integer(UInt32(truncatingIfNeeded: channels[channel].count))
    content.integer(time)
    content.integer(time)
    content.append(data)
    index[channel].append((time, UInt64(chunk.bytes.count)))
    chunk.append(Self.record(.message, content.bytes))
    channels[channel].count += 1
    chunkTimes = (min(chunkTimes?.first ?? time, time), max(chunkTimes?.last ?? time, time))
    times = (min(times?.first ?? time, time), max(times?.last ?? time, time))
    if chunk.bytes.count >= Self.chunkBytes { try closeChunk() }
  }

  private func closeChunk() throws {
    guard !chunk.bytes.isEmpty else { return }
    let (start, bytes) = (position, chunk.bytes)
    let range = chunkTimes ?? (0, 0)
    var content = BagByteWriter()
    content.integer(range.first)
    content.integer(range.last)
    content.integer(UInt64(bytes.count))
    content.integer(CRC32.of(bytes[...]))
    content.string("")
    content.integer(UInt64(bytes.count))
    content.append(bytes)
    try write(Self.record(.chunk, content.bytes))
    let length = position - start
    var offsets = BagByteWriter()
    for channel in channels.indices where !index[channel].isEmpty {
      offsets.integer(UInt16(channel))
      offsets.integer(position)
      try writeIndex(of: channel)
    }
    var entry = BagByteWriter()
    entry.integer(range.first)
    entry.integer(range.last)
    entry.integer(start)
    entry.integer(length)
    entry.integer(UInt32(offsets.bytes.count))
    entry.append(offsets.bytes)
    entry.integer(position - start - length)
    entry.string("")
    entry.integer(UInt64(bytes.count))
    entry.integer(UInt64(bytes.count))
    chunkIndexes.append(entry.bytes)
    (chunk, chunkTimes) = (BagByteWriter(), nil)
  }

  private func writeIndex(of channel: Int) throws {
    var content = BagByteWriter()
    content.integer(UInt16(channel))
    content.integer(UInt32(16 * index[channel].count))
    for entry in index[channel] {
      content.integer(entry.time)
      content.integer(entry.offset)
    }
    try write(Self.record(.messageIndex, content.bytes))
    index[channel] = []
  }

  /// Writes the last chunk and the summary.
  func finish() throws {
    try closeChunk()
    var end = BagByteWriter()
    // The chunks have checksums of their own.
    end.integer(UInt32(0))
    try write(Self.record(.dataEnd, end.bytes))
    let start = position
    var (summary, offsets) = (BagByteWriter(), BagByteWriter())
    func group(_ opcode: MCAPRecord.Opcode, _ contents: [[UInt8]]) {
      guard !contents.isEmpty else { return }
      let first = summary.bytes.count
      for content in contents { summary.append(Self.record(opcode, content)) }
      var offset = BagByteWriter()
      offset.integer(opcode.rawValue)
      offset.integer(start + UInt64(first))
      offset.integer(UInt64(summary.bytes.count - first))
      offsets.append(Self.record(.summaryOffset, offset.bytes))
    }
    group(.schema, schemas.indices.map(schemaContent))
    group(.channel, channels.indices.map(channelContent))
    group(.statistics, [statistics()])
    group(.chunkIndex, chunkIndexes)
    let offsetStart = start + UInt64(summary.bytes.count)
    summary.append(offsets.bytes)
    summary.integer(MCAPRecord.Opcode.footer.rawValue)
    summary.integer(UInt64(20))
    summary.integer(start)
    summary.integer(offsetStart)
    summary.integer(CRC32.of(summary.bytes[...]))
    summary.append(MCAPRecord.magic)
    try write(summary.bytes)
  }

  private func statistics() -> [UInt8] {
    var content = BagByteWriter()
    content.integer(channels.reduce(0) { $0 + $1.count })
    content.integer(UInt16(schemas.count))
    content.integer(UInt32(channels.count))
    content.integer(UInt32(0))
    content.integer(UInt32(0))
    content.integer(UInt32(chunkIndexes.count))
    content.integer(times?.first ?? 0)
    content.integer(times?.last ?? 0)
    content.integer(UInt32(10 * channels.count))
    for (place, channel) in channels.enumerated() {
      content.integer(UInt16(place))
      content.integer(channel.count)
    }
    return content.bytes
  }
}
