/// One image as a message has it.
struct ImageMessage: Sendable {
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

  init(_ bytes: ArraySlice<UInt8>, type: ImageType) throws {
    switch type {
    case .foxgloveRaw(true), .foxgloveCompressed(true), .foxgloveVideo(true):
      self = try ProtobufImage(bytes, type: type).message
    default:
      self = try Self.cdr(bytes, type: type)
    }
  }

  init(stampNanoseconds: Int64?, content: Content) {
    self.stampNanoseconds = stampNanoseconds == 0 ? nil : stampNanoseconds
    self.content = content
  }

  private static func cdr(
    _ bytes: ArraySlice<UInt8>, type: ImageType
  ) throws -> ImageMessage {
    var reader = try CDRReader(bytes)
    let stamp = try reader.stamp()
    _ = try reader.string()
    switch type {
    case .rosImage, .foxgloveRaw:
      let isROS = type == .rosImage
      // ROS has the height first.
      let sides = (try reader.integer(UInt32.self), try reader.integer(UInt32.self))
      let (width, height) = isROS ? (sides.1, sides.0) : sides
      let encoding = try reader.string()
      // Foxglove's message has no such field; its words are little-endian.
      let isBigEndian = isROS ? try reader.integer(UInt8.self) != 0 : false
      let step = try reader.integer(UInt32.self)
      return ImageMessage(
        stampNanoseconds: stamp,
        content: .raw(
          RawImage(
            width: Int(width), height: Int(height), encoding: encoding, isBigEndian: isBigEndian,
            step: Int(step), data: try reader.sequence())))
    case .rosCompressed:
      let format = try reader.string()
      return ImageMessage(
        stampNanoseconds: stamp,
        content: .coded(format: format, isVideo: false, data: try reader.sequence()))
    case .foxgloveCompressed, .foxgloveVideo:
      let data = try reader.sequence()
      let isVideo = type == .foxgloveVideo(isProtobuf: false)
      return ImageMessage(
        stampNanoseconds: stamp,
        content: .coded(format: try reader.string(), isVideo: isVideo, data: data))
    }
  }
}

extension CDRReader {
  /// A time of `builtin_interfaces/msg/Time`, in nanoseconds since 1970.
  mutating func stamp() throws -> Int64 {
    let seconds = try integer(Int32.self)
    let nanoseconds = try integer(UInt32.self)
    return Int64(seconds) * 1_000_000_000 + Int64(nanoseconds)
  }
}
