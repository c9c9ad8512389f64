/// One image as a message has it.
package struct ImageMessage: Sendable {
  enum Content: Sendable {
    /// Pixels, row by row.
    case raw(RawImage)
    /// A file or a packet; `format` is the message's name for its encoding.
    case coded(format: String, isVideo: Bool, data: ArraySlice<UInt8>)
  }

  struct RawImage: Sendable {
    var width: Int
    var height: Int
    /// As the message names it.
    var encoding: String
    /// Whether samples of more than one byte have the most significant first.
    var isBigEndian = false
    /// Bytes from one row to the next.
    var step: Int
    var data: ArraySlice<UInt8>
  }

  /// The header's stamp since 1970; nil if it is zero, as drivers write it that have no time.
  var stampNanoseconds: Int64?
  var content: Content

  package init(_ message: BagMessage, type: ImageType) throws {
    guard type.kind == .file else {
      self = try ImageMessage(message.bytes, type: type)
      return
    }
    self.init(
      stampNanoseconds: message.logNanoseconds,
      content: .coded(format: "", isVideo: false, data: message.bytes))
  }

  init(_ bytes: ArraySlice<UInt8>, type: ImageType) throws {
    self =
      type.encoding == .protobuf
      ? try ProtobufImage(bytes, type: type).message : try Self.read(bytes, type: type)
  }

  init(stampNanoseconds: Int64?, content: Content) {
    self.stampNanoseconds = stampNanoseconds == 0 ? nil : stampNanoseconds
    self.content = content
  }

  private static func read(_ bytes: ArraySlice<UInt8>, type: ImageType) throws -> ImageMessage {
    var reader = try MessageReader(bytes, type.encoding)
    return ImageMessage(
      stampNanoseconds: try reader.header(), content: try content(&reader, type.kind))
  }

  private static func content(
    _ reader: inout MessageReader, _ kind: ImageType.Kind
  ) throws -> Content {
    switch kind {
    case .rosImage, .foxgloveRaw:
      let isROS = kind == .rosImage
      // ROS has the height first.
      let sides = (try reader.integer(UInt32.self), try reader.integer(UInt32.self))
      let (width, height) = isROS ? (sides.1, sides.0) : sides
      let encoding = try reader.string()
      // Foxglove's message has no such field; its words are little-endian.
      let isBigEndian = isROS ? try reader.integer(UInt8.self) != 0 : false
      let step = try reader.integer(UInt32.self)
      return .raw(
        RawImage(
          width: Int(width), height: Int(height), encoding: encoding, isBigEndian: isBigEndian,
          step: Int(step), data: try reader.sequence()))
    case .rosCompressed:
      let format = try reader.string()
      let data = try reader.sequence()
      return try CompressedDepth(format, data)?.content
        ?? .coded(format: format, isVideo: false, data: data)
    case .ffmpegPacket:
      // Width and height, which the packets themselves have.
      try reader.skip(8, aligned: 4)
      let format = try reader.string()
      // The encoder's time, its flags, and the order of bytes in raw video.
      try reader.skip(8, aligned: 8)
      try reader.skip(2, aligned: 1)
      return .coded(format: format, isVideo: true, data: try reader.sequence())
    case .file: preconditionFailure("a file is not a message with fields")
    case .foxgloveCompressed, .foxgloveVideo:
      let data = try reader.sequence()
      return .coded(
        format: try reader.string(), isVideo: kind == .foxgloveVideo, data: data)
    }
  }
}

extension MessageReader {
  /// A `std_msgs/Header`; returns its stamp in nanoseconds since 1970.
  mutating func header() throws -> Int64 {
    // A number that counts messages, in ROS 1 alone.
    if isROS1 { try skip(4, aligned: 1) }
    let stamp = try stamp()
    _ = try sequence()
    return stamp
  }

  /// A time of `builtin_interfaces/msg/Time`, or `time` of ROS 1, in nanoseconds since 1970.
  mutating func stamp() throws -> Int64 {
    let seconds = isROS1 ? Int64(try integer(UInt32.self)) : Int64(try integer(Int32.self))
    let nanoseconds = try integer(UInt32.self)
    return seconds * 1_000_000_000 + Int64(nanoseconds)
  }
}
