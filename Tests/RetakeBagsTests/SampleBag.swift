import CLz4
import CZstd
import Foundation
import GRDB
import RetakeTestSupport
import Testing

@testable import RetakeBags

/// A small bag that a test writes, with the messages of a robot.
struct SampleBag {
  struct Topic {
    var name: String
    var type: String
    var encoding = "cdr"
    var schema = ""
  }

  struct Message {
    var topic: Int
    var time: Int64
    var bytes: [UInt8]
  }

  static let base: Int64 = 1_700_000_000_000_000_000
  static let (width, height) = (8, 6)

  var topics: [Topic] = []
  var messages: [Message] = []

  /// Two cameras with `frames` images each.
  static func cameras(frames: Int = 6) -> SampleBag {
    var bag = SampleBag(topics: [
      Topic(name: "/cam/mono", type: "sensor_msgs/msg/Image"),
      Topic(name: "/cam/bgr", type: "sensor_msgs/msg/Image"),
      Topic(name: "/note", type: "std_msgs/msg/String"),
    ])
    for number in 0..<frames {
      let stamp = base + Int64(number) * 33_333_333
      bag.add(0, image(stamp, "mono8", pixels(number, 48), step: 8), at: stamp + 2_000_000)
      bag.add(
        1, image(stamp + 10, "bgr8", pixels(100 + number, 144), step: 24), at: stamp + 3_000_000)
      bag.add(2, [0, 1, 0, 0, 2, 0, 0, 0, 0x61, 0], at: stamp + 4_000_000)
    }
    return bag
  }

  mutating func add(_ topic: Int, _ bytes: [UInt8], at time: Int64) {
    messages.append(Message(topic: topic, time: time, bytes: bytes))
  }

  /// Bytes that differ from image to image.
  static func pixels(_ number: Int, _ count: Int) -> [UInt8] {
    var generator = SeededGenerator(seed: UInt64(number))
    return (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
  }

  /// A message of sensor_msgs/msg/Image.
  static func image(
    _ stamp: Int64, _ encoding: String, _ data: [UInt8], width: Int = width, height: Int = height,
    step: Int, isBigEndian: Bool = false
  ) -> [UInt8] {
    var writer = CDRWriter()
    writer.stamp(stamp)
    writer.string("camera")
    writer.integer(UInt32(height))
    writer.integer(UInt32(width))
    writer.string(encoding)
    writer.integer(UInt8(isBigEndian ? 1 : 0))
    writer.integer(UInt32(step))
    writer.sequence(data)
    return writer.bytes
  }

  /// A message of sensor_msgs/msg/CompressedImage.
  static func compressed(_ stamp: Int64, _ format: String, _ data: [UInt8]) -> [UInt8] {
    var writer = CDRWriter()
    writer.stamp(stamp)
    writer.string("camera")
    writer.string(format)
    writer.sequence(data)
    return writer.bytes
  }

  // MARK: Storages

  /// - Parameter change: Called with the database before it is closed.
  func writeSQLite(_ path: String, change: (Database) throws -> Void = { _ in }) throws {
    let queue = try DatabaseQueue(path: path)
    try queue.write { database in
      try database.execute(
        sql: """
          CREATE TABLE topics (id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL,
            serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL);
          CREATE TABLE messages (id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL,
            timestamp INTEGER NOT NULL, data BLOB NOT NULL);
          CREATE INDEX timestamp_idx ON messages (timestamp ASC);
          """)
      for (id, topic) in topics.enumerated() {
        try database.execute(
          sql: "INSERT INTO topics VALUES (?, ?, ?, ?, '')",
          arguments: [id + 1, topic.name, topic.type, topic.encoding])
      }
      for message in messages {
        try database.execute(
          sql: "INSERT INTO messages (topic_id, timestamp, data) VALUES (?, ?, ?)",
          arguments: [message.topic + 1, message.time, Data(message.bytes)])
      }
      try change(database)
    }
    try queue.close()
  }

  enum Packing: String, CaseIterable { case plain = "", lz4, zstd }

  /// Writes records without Retake's own writer.
  ///
  /// - Parameters:
  ///   - chunk: Messages in a chunk; `nil` writes them without chunks.
  ///   - hasSummary: Whether the channels are repeated at the end.
  func mcap(
    chunk: Int? = 4, packing: Packing = .plain, hasSummary: Bool = true
  ) throws -> [UInt8] {
    var file = MCAPRecord.magic + Self.record(1, Self.text("ros2") + Self.text("test"))
    var definitions: [UInt8] = []
    for (id, topic) in topics.enumerated() {
      let number = Self.number(UInt16(id))
      definitions += Self.record(
        3,
        Self.number(UInt16(id + 1)) + Self.text(topic.type) + Self.text("ros2msg")
          + Self.text(topic.schema))
      definitions += Self.record(
        4,
        number + Self.number(UInt16(id + 1)) + Self.text(topic.name) + Self.text(topic.encoding)
          + Self.number(UInt32(0)))
    }
    let records = messages.map { message in
      Self.record(
        5,
        Self.number(UInt16(message.topic)) + Self.number(UInt32(0))
          + Self.number(UInt64(message.time)) + Self.number(UInt64(message.time)) + message.bytes)
    }
    var chunks: [Int] = []
    if let chunk {
      for start in stride(from: 0, to: records.count, by: chunk) {
        let part = records[start..<min(start + chunk, records.count)].flatMap(\.self)
        chunks.append(file.count)
        file += try Self.chunk((start == 0 ? definitions : []) + part, packing)
      }
    } else {
      file += definitions + records.flatMap(\.self)
    }
    file += Self.record(15, Self.number(UInt32(0)))
    let start = file.count
    if hasSummary {
      let empty = Self.number(UInt64(0))
      var counts: [UInt8] = []
      for id in topics.indices {
        counts += Self.number(UInt16(id))
        counts += Self.number(UInt64(messages.count { $0.topic == id }))
      }
      file += definitions
      let statistics: [[UInt8]] = [
        Self.number(UInt64(messages.count)), Self.number(UInt16(topics.count)),
        Self.number(UInt32(topics.count)), Self.number(UInt32(0)), Self.number(UInt32(0)),
        Self.number(UInt32(chunks.count)), empty, empty, Self.number(UInt32(counts.count)), counts,
      ]
      file += Self.record(11, statistics.flatMap(\.self))
      for offset in chunks {
        file += Self.record(8, empty + empty + Self.number(UInt64(offset)) + empty)
      }
    }
    file += Self.record(
      2,
      Self.number(UInt64(hasSummary ? start : 0)) + Self.number(UInt64(0)) + Self.number(UInt32(0)))
    return file + MCAPRecord.magic
  }

  static func record(_ opcode: UInt8, _ content: [UInt8]) -> [UInt8] {
    [opcode] + number(UInt64(content.count)) + content
  }

  static func chunk(
    _ records: [UInt8], _ packing: Packing = .plain, crc: UInt32? = nil, bytes: UInt64? = nil
  ) throws -> [UInt8] {
    let packed: [UInt8] =
      switch packing {
      case .plain: records
      case .lz4: lz4(records)
      case .zstd: zstd(records)
      }
    let content: [[UInt8]] = [
      number(UInt64(0)), number(UInt64(0)), number(bytes ?? UInt64(records.count)),
      number(crc ?? CRC32.of(records[...])), text(packing.rawValue), number(UInt64(packed.count)),
      packed,
    ]
    return record(6, content.flatMap(\.self))
  }

  static func number<Number: FixedWidthInteger>(_ value: Number) -> [UInt8] {
    stride(from: 0, to: Number.bitWidth, by: 8).map {
      UInt8(truncatingIfNeeded: value >> Number($0))
    }
  }

  static func text(_ text: String) -> [UInt8] { number(UInt32(text.utf8.count)) + Array(text.utf8) }

  static func zstd(_ bytes: [UInt8]) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: ZSTD_compressBound(bytes.count))
    let count = ZSTD_compress(&output, output.count, bytes, bytes.count, 3)
    return Array(output.prefix(count))
  }

  static func lz4(_ bytes: [UInt8]) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: LZ4F_compressFrameBound(bytes.count, nil))
    let count = LZ4F_compressFrame(&output, output.count, bytes, bytes.count, nil)
    return Array(output.prefix(count))
  }
}
