/// The records of the MCAP format, version 0 (mcap.dev/spec).
enum MCAPRecord {
  static let magic: [UInt8] = [0x89, 0x4D, 0x43, 0x41, 0x50, 0x30, 0x0D, 0x0A]
  /// The opcode and the length of the content.
  static let headBytes = 9
  /// A footer with its head.
  static let footerBytes = 29

  enum Opcode: UInt8 {
    case header = 1
    case footer, schema, channel, message, chunk, messageIndex, chunkIndex, attachment
    case attachmentIndex, statistics, metadata, metadataIndex, summaryOffset, dataEnd

    /// For messages to the user: `message index`.
    var name: String {
      switch self {
      case .messageIndex: "message index"
      case .chunkIndex: "chunk index"
      case .attachmentIndex: "attachment index"
      case .metadataIndex: "metadata index"
      case .summaryOffset: "summary offset"
      case .dataEnd: "data end"
      default: "\(self)"
      }
    }
  }

  struct Head: Hashable {
    var opcode: UInt8
    var length: UInt64

    init(_ bytes: ArraySlice<UInt8>) throws {
      var reader = BagByteReader(bytes)
      opcode = try reader.integer()
      length = try reader.integer()
    }

    var name: String { Opcode(rawValue: opcode)?.name ?? "record of the kind \(opcode)" }
  }

  struct Schema: Hashable, Sendable {
    var id: UInt16
    var name: String
    var encoding: String
    var text: String

    init(_ content: ArraySlice<UInt8>) throws {
      var reader = BagByteReader(content)
      id = try reader.integer()
      name = try reader.string()
      encoding = try reader.string()
      text = try reader.string()
    }
  }

  struct Channel: Hashable, Sendable {
    var id: UInt16
    var schema: UInt16
    var topic: String
    var encoding: String

    init(_ content: ArraySlice<UInt8>) throws {
      var reader = BagByteReader(content)
      id = try reader.integer()
      schema = try reader.integer()
      topic = try reader.string()
      encoding = try reader.string()
    }
  }

  struct Message {
    var channel: UInt16
    var logTime: UInt64
    var publishTime: UInt64
    var data: ArraySlice<UInt8>

    init(_ content: ArraySlice<UInt8>) throws {
      var reader = BagByteReader(content)
      channel = try reader.integer()
      _ = try reader.integer(UInt32.self)
      logTime = try reader.integer()
      publishTime = try reader.integer()
      data = reader.rest
    }
  }

  /// A chunk up to its records.
  struct Chunk: Hashable {
    var uncompressedBytes: UInt64
    var crc: UInt32
    var compression: String
    /// As the chunk claims it.
    var recordsBytes: UInt64

    init(_ reader: inout BagByteReader) throws {
      _ = try reader.take(16)
      uncompressedBytes = try reader.integer()
      crc = try reader.integer()
      compression = try reader.string()
      recordsBytes = try reader.integer()
    }
  }

  /// The position of a chunk.
  struct ChunkIndex: Hashable {
    var offset: UInt64

    init(_ content: ArraySlice<UInt8>) throws {
      var reader = BagByteReader(content)
      _ = try reader.take(16)
      offset = try reader.integer()
    }
  }

  struct Statistics: Hashable {
    var messages: UInt64
    var channels: UInt32
    var channelMessages: [UInt16: UInt64] = [:]

    init(_ content: ArraySlice<UInt8>) throws {
      var reader = BagByteReader(content)
      messages = try reader.integer()
      _ = try reader.integer(UInt16.self)
      channels = try reader.integer()
      _ = try reader.take(28)
      var map = BagByteReader(try reader.sized())
      while !map.isAtEnd { channelMessages[try map.integer()] = try map.integer() }
    }
  }

  struct Footer: Hashable {
    var summaryStart: UInt64
    var crc: UInt32

    init(_ content: ArraySlice<UInt8>) throws {
      var reader = BagByteReader(content)
      summaryStart = try reader.integer()
      _ = try reader.integer(UInt64.self)
      crc = try reader.integer()
    }
  }
}
