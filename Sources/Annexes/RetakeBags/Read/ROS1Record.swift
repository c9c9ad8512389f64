/// The records of a bag of ROS 1, version 2.0 (wiki.ros.org/Bags/Format/2.0): a header of named
/// fields, then data. Lengths are 32 bits, little-endian.
struct ROS1Record {
  static let magic = Array("#ROSBAG V2.0\n".utf8)

  enum Kind: UInt8 {
    case message = 2
    case bagHeader, index, chunk, chunkInfo, connection

    /// For messages to the user.
    var name: String {
      switch self {
      case .bagHeader: "bag header"
      case .chunkInfo: "chunk info"
      default: "\(self)"
      }
    }
  }

  /// nil for a kind that is not known.
  let kind: Kind?
  private let fields: ArraySlice<UInt8>

  /// - Parameter header: The header's bytes, without its length.
  init(_ header: ArraySlice<UInt8>) throws {
    fields = header
    kind = Kind(rawValue: try Self.field("op", in: header)?.first ?? 0)
  }

  /// The value of a field; nil if the header does not have it.
  static func field(_ name: String, in header: ArraySlice<UInt8>) throws -> ArraySlice<UInt8>? {
    var reader = BagByteReader(header)
    while !reader.isAtEnd {
      let field = try reader.sized()
      if field.starts(with: name.utf8), field.dropFirst(name.utf8.count).first == UInt8(ascii: "=")
      {
        return field.dropFirst(name.utf8.count + 1)
      }
    }
    return nil
  }

  func integer<Number: FixedWidthInteger>(
    _ name: String, _ type: Number.Type = Number.self
  ) throws -> Number {
    var reader = BagByteReader(try Self.field(name, in: fields) ?? [])
    return try reader.integer(Number.self)
  }

  func text(_ name: String) throws -> String {
    guard let bytes = try Self.field(name, in: fields) else { throw BagByteReader.Short() }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Seconds and nanoseconds, as nanoseconds since 1970.
  func time(_ name: String) throws -> Int64 {
    let value = try integer(name, UInt64.self)
    return Int64(value & 0xFFFF_FFFF) * 1_000_000_000 + Int64(value >> 32)
  }

  /// The topic of a connection. Its data has the fields that the publisher sent.
  func topic(_ data: ArraySlice<UInt8>) throws -> BagTopic {
    func sent(_ name: String) throws -> String {
      String(decoding: try Self.field(name, in: data) ?? [], as: UTF8.self)
    }
    return BagTopic(
      name: try text("topic"), type: try sent("type"), encoding: MessageEncoding.ros1.rawValue,
      schema: try sent("message_definition"),
      schemaEncoding: MessageEncoding.ros1.definitionName)
  }
}
